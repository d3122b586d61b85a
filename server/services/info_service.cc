#include "server/services/info_service.h"

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/base/status.h"
#include "core/deform/engine/registry.h"
#include "core/simd/target.h"
#include "server/base/config_options.h"
#include "server/base/version.h"
#include "server/calls/unary_call.h"
#include "server/services/page.h"
#include "sinew/v1/info_service.pb.h"

namespace sinew::server {
namespace {

void AddLimits(const Config& config, v1::GetServerInfoResponse& response) {
  VisitOptions(config, [&](const Option& option, const auto& member) {
    using Member = std::decay_t<decltype(member)>;
    if constexpr (std::is_same_v<Member, std::uint64_t> || std::is_same_v<Member, double>) {
      if (!option.limit) return;
      v1::Limit& limit = *response.add_limits();
      limit.set_name(std::string(option.name));
      limit.set_value(static_cast<std::uint64_t>(std::ceil(static_cast<double>(member))));
      limit.set_unit(std::string(option.unit));
      limit.set_description(std::string(option.help));
    }
  });
}

v1::Method DescribeMethod(const MethodInfo& info) {
  v1::Method method;
  method.set_name(info.name);
  method.set_summary(info.summary);
  method.set_reads(info.reads);
  method.set_paper(info.paper);
  method.set_cost_class(info.cost_class);
  method.set_version(static_cast<std::uint32_t>(info.version));
  method.set_example(info.example);
  for (const ParameterInfo& parameter : info.parameters) {
    v1::Parameter& proto = *method.add_parameters();
    proto.set_name(parameter.name);
    proto.set_type(parameter.type);
    proto.set_unit(parameter.unit);
    proto.set_default_value(parameter.default_value);
    if (parameter.minimum) proto.set_minimum(*parameter.minimum);
    if (parameter.maximum) proto.set_maximum(*parameter.maximum);
    for (const std::string& choice : parameter.choices) proto.add_choices(choice);
    proto.set_description(parameter.description);
  }
  return method;
}

// A token is the name of the last method of the page before.
absl::Status List(const v1::ListMethodsRequest& request, std::uint64_t most_rows,
                  v1::ListMethodsResponse& response) {
  SINEW_ASSIGN_OR_RETURN(const std::size_t rows, PageSize(request.page_size(), most_rows));
  const std::vector<MethodInfo>& methods = ::sinew::ListMethods();
  std::size_t first = 0;
  if (request.page_token().empty()) {
    for (const PresetInfo& preset : ListPresets()) {
      v1::Preset& proto = *response.add_presets();
      proto.set_name(std::string(preset.name));
      proto.set_recipe_text(std::string(preset.recipe_text));
      proto.set_summary(std::string(preset.summary));
    }
  } else {
    while (first < methods.size() && methods[first].name != request.page_token()) ++first;
    if (first == methods.size()) {
      return InvalidField("page_token", "not one that this server has given out");
    }
    ++first;
  }
  for (std::size_t i = first; i < methods.size() && i < first + rows; ++i) {
    *response.add_methods() = DescribeMethod(methods[i]);
  }
  if (first + rows < methods.size()) {
    response.set_next_page_token(methods[first + rows - 1].name);
  }
  return absl::OkStatus();
}

}  // namespace

void AddInfoMethods(Runtime& runtime, RpcService& service) {
  service.Add(
      {.runtime = runtime, .name = "InfoService/GetServerInfo", .scope = Scope::kAny},
      Unary<v1::GetServerInfoRequest, v1::GetServerInfoResponse>(
          [&runtime](const Call& call, const v1::GetServerInfoRequest&,
                     v1::GetServerInfoResponse& response) -> absl::Status {
            response.set_version(kVersion);
            response.set_simd(std::string(IsaName(ActiveIsa())));
            response.set_threads(static_cast<std::uint32_t>(runtime.config.compute.threads));
            AddLimits(runtime.Current(), response);
            for (const v1::Encoding e : kEncodings) response.add_encodings(e);
            for (const v1::Encoding e : kNormalEncodings) response.add_normal_encodings(e);
            for (const v1::Compression c : kCompressions) response.add_compressions(c);
            response.add_attributes(v1::ATTRIBUTE_POSITIONS);
            response.add_attributes(v1::ATTRIBUTE_NORMALS);
            response.add_attributes(v1::ATTRIBUTE_TANGENTS);
            response.add_attributes(v1::ATTRIBUTE_VERTEX_STATUS);
            *response.mutable_stats() = runtime.StatsFor(call.caller());
            return absl::OkStatus();
          }));

  service.Add({.runtime = runtime, .name = "InfoService/ListMethods", .scope = Scope::kAny},
              Unary<v1::ListMethodsRequest, v1::ListMethodsResponse>(
                  [&runtime](const Call&, const v1::ListMethodsRequest& request,
                             v1::ListMethodsResponse& response) -> absl::Status {
                    return List(request, runtime.config.sessions.page, response);
                  }));
}

}  // namespace sinew::server
