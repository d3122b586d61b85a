// Connections, characters and what a server lists.
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "client/bake/character/template_file.h"
#include "client/cli/run/local.h"
#include "client/python/src/arrays.h"
#include "client/python/src/bindings.h"
#include "client/python/src/blocking.h"
#include "client/python/src/character.h"
#include "client/python/src/errors.h"
#include "core/base/status.h"

namespace py = pybind11;
using namespace py::literals;

namespace sinew::python {
namespace {

using Service = cli::LocalService;

// A server that stops waits for its threads.
void DeleteWithoutGil(Service* service) {
  if (NetworkIsLost()) return;
  const py::gil_scoped_release release;
  delete service;
}

using ConnectionPointer = std::shared_ptr<Connection>;

ConnectionPointer MakeConnection(const std::string& server, cli::LocalService local) {
  return std::make_shared<Connection>(
      Connection{server, {new Service(std::move(local)), &DeleteWithoutGil}});
}

ConnectionPointer Connect(const std::string& address, const std::string& token,
                          const std::string& token_file, const std::optional<std::string>& tls_ca,
                          const std::string& tls_cert, const std::string& tls_key,
                          double deadline) {
  UseNetwork();
  client::ClientOptions options{.address = address};
  options.token = token;
  options.token_file = token_file;
  options.deadline = absl::Seconds(deadline);
  if (tls_ca) {
    options.tls = client::TlsOptions{
        .ca_file = *tls_ca == "system" ? "" : *tls_ca, .cert_file = tls_cert, .key_file = tls_key};
  }
  return MakeConnection(address,
                        {.server = nullptr, .client = Value(client::Client::Connect(options))});
}

ConnectionPointer Local(const std::string& cache) {
  UseNetwork();
  absl::StatusOr<cli::LocalService> service;
  {
    const py::gil_scoped_release release;
    service = cli::StartLocalService(cache);
  }
  return MakeConnection("this process", Value(std::move(service)));
}

// An object of sinew.listed.
template <class... Attributes>
py::object Listed(const char* type, Attributes&&... attributes) {
  return py::module_::import("sinew.listed").attr(type)(std::forward<Attributes>(attributes)...);
}

py::object Stats(const ConnectionPointer& connection) {
  const std::shared_ptr<Service> service = connection->Get();
  const client::ServerInfo server = Value(Blocked(
      [&](const std::stop_token& stop) { return service->client.GetServerInfo({.stop = stop}); }));
  py::dict limits;
  for (const client::Limit& limit : server.limits) limits[py::str(limit.name)] = limit.value;
  const client::ServerStats& stats = server.stats;
  return Listed("Stats", "version"_a = server.version, "simd"_a = server.simd,
                "threads"_a = server.threads, "rigs"_a = stats.rigs,
                "rig_bytes"_a = stats.rig_bytes, "sessions"_a = stats.sessions,
                "streams"_a = stats.streams, "frames_sent"_a = stats.frames_sent,
                "bound_entries"_a = stats.bound_entries, "bound_bytes"_a = stats.bound_bytes,
                "uptime_seconds"_a = stats.uptime_seconds, "limits"_a = limits);
}

client::MethodList ListMethods(const ConnectionPointer& connection) {
  const std::shared_ptr<Service> service = connection->Get();
  return Value(Blocked(
      [&](const std::stop_token& stop) { return service->client.ListMethods({.stop = stop}); }));
}

py::dict Methods(const ConnectionPointer& connection) {
  py::dict methods;
  for (const client::Method& method : ListMethods(connection).methods) {
    py::dict parameters;
    for (const client::Parameter& parameter : method.parameters) {
      parameters[py::str(parameter.name)] =
          Listed("Parameter", "type"_a = parameter.type, "unit"_a = parameter.unit,
                 "default"_a = parameter.default_value, "minimum"_a = parameter.minimum,
                 "maximum"_a = parameter.maximum, "choices"_a = parameter.choices,
                 "description"_a = parameter.description);
    }
    methods[py::str(method.name)] =
        Listed("Method", "summary"_a = method.summary, "reads"_a = method.reads,
               "paper"_a = method.paper, "cost"_a = method.cost_class, "example"_a = method.example,
               "version"_a = method.version, "parameters"_a = parameters);
  }
  return methods;
}

py::dict Presets(const ConnectionPointer& connection) {
  py::dict presets;
  for (const client::Preset& preset : ListMethods(connection).presets) {
    presets[py::str(preset.name)] =
        Listed("Preset", "recipe"_a = preset.recipe_text, "summary"_a = preset.summary);
  }
  return presets;
}

std::shared_ptr<BoundCharacter> MakeCharacter(const ConnectionPointer& connection, const Rig& rig,
                                              const std::string& deformer, py::object progress) {
  std::stop_source stop;
  Callback report(std::move(progress), stop);
  client::CharacterOptions options;
  // The character calls them again when it restores a lost session, after `report` has gone.
  const auto waiting = std::make_shared<std::atomic<bool>>(true);
  if (report) {
    // Half for the upload, half for the bind.
    options.upload_progress = [&report, waiting](std::uint64_t held, std::uint64_t size) {
      if (!*waiting) return;
      report(size == 0 ? 0.5 : 0.5 * static_cast<double>(held) / static_cast<double>(size));
    };
    options.session_progress = [&report, waiting](const client::Session& session) {
      if (*waiting) report(0.5 + 0.5 * session.progress);
    };
  }
  const std::shared_ptr<Service> service = connection->Get();
  auto made = Blocked(
      [&](const std::stop_token& token) {
        return client::Character::Create(service->client, rig.file->rig_bytes, deformer, options,
                                         {.deadline = absl::InfiniteDuration(), .stop = token});
      },
      stop);
  *waiting = false;
  report.Rethrow();
  return Shared(new BoundCharacter(rig, Value(std::move(made)), connection));
}

// One of several calls that have to end by then.
client::CallOptions CallUntil(absl::Time end, const std::stop_token& stop) {
  return {.deadline = std::max(end - absl::Now(), absl::Nanoseconds(1)), .stop = stop};
}

Rig ComputeWeights(const ConnectionPointer& connection, const Rig& rig, const std::string& method,
                   const std::optional<std::uint32_t>& max_influences,
                   const std::vector<std::string>& joints, py::object progress,
                   std::optional<double> deadline) {
  const absl::Time end = absl::Now() + Deadline(deadline, absl::InfiniteDuration());
  static const auto* const kMethods = new std::map<std::string, client::WeightMethod>{
      {"capsule", client::WeightMethod::kCapsule},
      {"heat", client::WeightMethod::kHeat},
      {"geodesic", client::WeightMethod::kGeodesic}};
  const auto found = kMethods->find(method);
  if (found == kMethods->end()) {
    Raise(absl::InvalidArgumentError(
        absl::StrCat("method: got \"", method, "\", need capsule, heat or geodesic")));
  }
  std::stop_source stop;
  Callback report(std::move(progress), stop);
  const std::shared_ptr<Service> service = connection->Get();
  const client::Client& client = service->client;
  std::vector<client::Problem> warnings;
  auto bytes = Blocked(
      [&](const std::stop_token& token) -> absl::StatusOr<std::string> {
        const auto call = [&] { return CallUntil(end, token); };
        SINEW_ASSIGN_OR_RETURN(const auto uploaded,
                               client.UploadRig(std::string_view(rig.file->rig_bytes),
                                                client::UploadProgress(), call()));
        client::WeightsRequest request{.rig = uploaded.rig.name, .method = found->second};
        request.max_influences = max_influences;
        request.joints = joints;
        client::WeightsProgress each;
        if (report) each = [&](double fraction) { report(fraction); };
        SINEW_ASSIGN_OR_RETURN(const auto weighted, client.ComputeWeights(request, each, call()));
        warnings = weighted.report.warnings;
        return client.DownloadRig(weighted.rig.name, {}, call());
      },
      stop);
  report.Rethrow();
  auto file = std::make_shared<bake::CharacterFile>(*rig.file);
  file->rig_bytes = Value(std::move(bytes));
  file->rig = Value(client::DecodeRig(file->rig_bytes));
  for (const client::Problem& warning : warnings) {
    if (PyErr_WarnEx(PyExc_UserWarning, warning.message.c_str(), 2) != 0)
      throw py::error_already_set();
  }
  return {std::move(file), {}};
}

py::object FitSkeleton(const ConnectionPointer& connection, const Rig& rig,
                       const std::string& skeleton,
                       const std::map<std::string, std::array<double, 3>>& hints,
                       const std::optional<double>& scale,
                       const std::optional<std::uint32_t>& resolution, bool faces_forward,
                       py::object progress, const std::optional<double>& meters_per_unit,
                       std::optional<double> deadline) {
  const absl::Time end = absl::Now() + Deadline(deadline, absl::InfiniteDuration());
  client::FitRequest request{.rig = {}};
  Check(bake::ChooseTemplate(skeleton, request));
  request.scale = scale;
  request.resolution = resolution;
  request.faces_forward = faces_forward;
  for (const auto& [joint, place] : hints) request.hints.push_back({joint, place});
  auto file = std::make_shared<bake::CharacterFile>(*rig.file);
  Check(bake::PrepareForFit(meters_per_unit, *file));
  std::stop_source stop;
  Callback report(std::move(progress), stop);
  const std::shared_ptr<Service> service = connection->Get();
  const client::Client& client = service->client;
  client::FitReport fit;
  auto bytes = Blocked(
      [&](const std::stop_token& token) -> absl::StatusOr<std::string> {
        const auto call = [&] { return CallUntil(end, token); };
        SINEW_ASSIGN_OR_RETURN(
            const auto uploaded,
            client.UploadRig(std::string_view(file->rig_bytes), client::UploadProgress(), call()));
        request.rig = uploaded.rig.name;
        client::WeightsProgress each;
        if (report) each = [&](double fraction) { report(fraction); };
        SINEW_ASSIGN_OR_RETURN(const auto fitted, client.FitSkeleton(request, each, call()));
        fit = fitted.report;
        return client.DownloadRig(fitted.rig.name, {}, call());
      },
      stop);
  report.Rethrow();
  file->rig_bytes = Value(std::move(bytes));
  file->rig = Value(client::DecodeRig(file->rig_bytes));
  std::vector<std::string> warnings;
  for (const client::Problem& warning : fit.warnings) warnings.push_back(warning.message);
  return Listed("Fit", "rig"_a = Rig{std::move(file), {}}, "residual"_a = fit.facing.residual,
                "up"_a = fit.facing.up, "forward"_a = fit.facing.forward, "warnings"_a = warnings);
}

}  // namespace

std::shared_ptr<Service> Connection::Get() const {
  UseNetwork();
  if (service == nullptr) Raise(absl::FailedPreconditionError("client: it is closed"));
  return service;
}

void BindClient(py::module_& module) {
  py::class_<Connection, ConnectionPointer> type(
      module, "Client",
      "A connection to a server. Thread-safe. As a context manager it is closed at the end.");
  OnlyFromFunctions(type);
  type.def("character", MakeCharacter, "rig"_a, "deformer"_a, "progress"_a = py::none(),
           R"(Uploads and binds a rig, and waits until it is ready.

deformer: recipe text such as "ddm" or "dqs(blend=0.5) | relax". progress: called with a number from
0 to 1; an exception that it raises ends the call.)")
      .def("weights", ComputeWeights, "rig"_a, "method"_a = "heat", "max_influences"_a = py::none(),
           "joints"_a = std::vector<std::string>(), "progress"_a = py::none(), py::kw_only(),
           "deadline"_a = py::none(),
           "Computes skin weights (capsule, heat, geodesic) and returns the rig with them; what is "
           "doubtful about them is a UserWarning. deadline: seconds with all retries; None: as "
           "long as it takes.")
      .def("fit_skeleton", FitSkeleton, "rig"_a, "template"_a = "human", "hints"_a = py::dict(),
           "scale"_a = py::none(), "resolution"_a = py::none(), "faces_forward"_a = false,
           "progress"_a = py::none(), "meters_per_unit"_a = py::none(), py::kw_only(),
           "deadline"_a = py::none(),
           R"(Places a skeleton in a rig whose meshes have no skin, and returns a Fit.

template: human, quadruped, horse, centaur, or a .json file. hints: places of joints, by name.
scale: size of the template, 0.5 to 2. faces_forward: try no other direction. meters_per_unit: of a
file that names no unit, else 1. deadline: seconds with all retries; None: as long as it takes. Look
at residual and warnings: above 0.1 a fit is often wrong. weights() gives the rig its skin.)")
      .def("methods", Methods, "Deformation methods, by name: Method objects.")
      .def("presets", Presets, "Named recipes, by name: Preset objects.")
      .def("stats", Stats, "Version, load and limits of the server: a Stats object.")
      .def(
          "close", [](Connection& connection) { connection.service.reset(); },
          "Ends the connection: its characters cannot be used any more. Streams that are open "
          "stay.")
      .def("__enter__", [](ConnectionPointer connection) { return connection; })
      .def("__exit__", [](Connection& connection, const py::args&) { connection.service.reset(); })
      .def("__repr__", [](const Connection& connection) {
        return absl::StrCat("<sinew.Client of ", connection.server,
                            connection.service == nullptr ? ", closed>" : ">");
      });
  BindWatch(module, type);
  module.def("connect", Connect, "address"_a = "127.0.0.1:50051", py::kw_only(), "token"_a = "",
             "token_file"_a = "", "tls_ca"_a = py::none(), "tls_cert"_a = "", "tls_key"_a = "",
             "deadline"_a = 120.0,
             R"(A client of a running server: host, host:port or unix:/path. Does not wait for it.

tls_ca: use TLS; the authorities of the server's certificate, PEM, or "system". deadline: seconds of
a call with its retries.)");
  module.def(
      "local", Local, "cache"_a = "",
      "A server inside this process, and a client of it. It keeps rigs and bound data in the "
      "folder `cache`, if one is given, for later servers and those of other processes.");
}

}  // namespace sinew::python
