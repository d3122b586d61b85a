// commands.h - the sub-commands. Each function adds one to `app`; parsing it fills `command`.
#pragma once

#include <CLI/CLI.hpp>

#include "client/cli/run/context.h"

namespace sinew::cli {

void AddInspect(CLI::App& app, Command& command);
void AddMethods(CLI::App& app, Command& command);
void AddUpload(CLI::App& app, Command& command);
void AddBind(CLI::App& app, Command& command);
void AddBake(CLI::App& app, Command& command);
void AddRender(CLI::App& app, Command& command);
void AddCompare(CLI::App& app, Command& command);
void AddWeights(CLI::App& app, Command& command);
void AddVerify(CLI::App& app, Command& command);
void AddBench(CLI::App& app, Command& command);
void AddRigs(CLI::App& app, Command& command);
void AddSessions(CLI::App& app, Command& command);
void AddDelete(CLI::App& app, Command& command);
void AddStats(CLI::App& app, Command& command);

}  // namespace sinew::cli
