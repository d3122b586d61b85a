// commands.h - the sub-commands. Each function declares one: its options, its help, what it runs.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "client/cli/base/options.h"
#include "client/cli/run/context.h"

namespace sinew::cli {

// Where a sub-command declares itself, before anything is parsed. One thread.
class CommandList {
 public:
  // Parsing sets `chosen` to the command that was named. Both must outlive the parsing.
  CommandList(OptionParser& parser, Command& chosen) : parser_(parser), chosen_(chosen) {}

  // name: as typed, unique. purpose: one line of the list of commands. run: gets its context after
  // parsing; its error is printed, and becomes the exit code (base/exit_code.h).
  OptionSet Add(const std::string& name, const std::string& purpose, Command run) {
    return parser_.AddCommand(name, purpose,
                              [&chosen = chosen_, run = std::move(run)] { chosen = run; });
  }
  // Adds a command whose options fill a struct. Also returns the struct, to bind options to; it
  // lives as long as the command. `run` gets it with the context.
  template <class Options, class Run>
  std::pair<OptionSet, Options&> Add(const std::string& name, const std::string& purpose, Run run) {
    const auto options = std::make_shared<Options>();
    return {Add(name, purpose, [=](Context& context) { return run(context, *options); }), *options};
  }

 private:
  OptionParser& parser_;
  Command& chosen_;
};

// Each is in the .cc of its name; command_line.cc calls them in the order of `sinew help`.
void AddInspect(CommandList& commands);
void AddMethods(CommandList& commands);
void AddUpload(CommandList& commands);
void AddBind(CommandList& commands);
void AddBake(CommandList& commands);
void AddExport(CommandList& commands);
void AddRender(CommandList& commands);
void AddView(CommandList& commands);
void AddCompare(CommandList& commands);
void AddDistil(CommandList& commands);
void AddFitSkeleton(CommandList& commands);
void AddFitWeights(CommandList& commands);
void AddDecompose(CommandList& commands);
void AddWeights(CommandList& commands);
void AddJoin(CommandList& commands);
void AddVerify(CommandList& commands);
void AddRepair(CommandList& commands);
void AddBench(CommandList& commands);
void AddRigs(CommandList& commands);
void AddSessions(CommandList& commands);
void AddDelete(CommandList& commands);
void AddStats(CommandList& commands);
void AddDoctor(CommandList& commands);

}  // namespace sinew::cli
