#include "server/web/page_streams.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "core/base/status.h"

namespace sinew::server {
namespace {

constexpr char kMethod[] = "/sinew.v1.DeformService/StreamDeform";
constexpr std::size_t kIdDigits = 32;

}  // namespace

PageStream::Call::Call(const Upstream& upstream, const WebCaller& caller, std::uint32_t number,
                       WebQueue& queue)
    : forwarded(upstream, caller, kMethod, number, queue) {}

absl::StatusOr<std::shared_ptr<PageStream::Call>> PageStream::FindOrStart(std::uint32_t number) {
  const absl::MutexLock lock(&mutex_);
  if (const auto found = calls_.find(number); found != calls_.end()) return found->second;
  if (used_.contains(number)) {
    return absl::NotFoundError(absl::StrCat("call ", number, ": has ended"));
  }
  std::erase_if(calls_, [](const auto& call) { return call.second->forwarded.ended(); });
  if (calls_.size() >= kMostCalls) {
    return absl::ResourceExhaustedError(
        absl::StrCat("calls: got more than ", kMostCalls, " at once"));
  }
  if (used_.size() >= kMostNumbers) {
    return absl::ResourceExhaustedError("calls: too many since the page was opened");
  }
  used_.insert(number);
  return calls_[number] = std::make_shared<Call>(upstream_, caller_, number, queue_);
}

absl::Status PageStream::Send(std::uint32_t number, std::string_view message) {
  SINEW_ASSIGN_OR_RETURN(const std::shared_ptr<Call> call, FindOrStart(number));
  const absl::MutexLock lock(&call->writing);
  if (call->forwarded.Write(ToByteBuffer(message))) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("call ", number, ": has ended"));
}

absl::Status PageStream::End(std::uint32_t number) {
  const absl::MutexLock lock(&mutex_);
  const auto found = calls_.find(number);
  if (found == calls_.end()) return absl::NotFoundError(absl::StrCat("call ", number, ": none"));
  found->second->forwarded.Cancel();
  return absl::OkStatus();
}

void PageStream::Close() {
  queue_.Close();
  const absl::MutexLock lock(&mutex_);
  for (const auto& [number, call] : calls_) call->forwarded.Cancel();
}

absl::StatusOr<std::shared_ptr<PageStream>> PageStreams::Open(const std::string& id,
                                                              const WebCaller& caller) {
  const bool digits = std::ranges::all_of(
      id, [](char c) { return absl::ascii_isxdigit(c) && !(c >= 'A' && c <= 'F'); });
  if (id.size() != kIdDigits || !digits) {
    return InvalidArgument("page: need ", kIdDigits, " lower-case hexadecimal digits");
  }
  const absl::MutexLock lock(&mutex_);
  if (pages_.contains(id)) return absl::AlreadyExistsError("page: its frames are read already");
  // A scheme may be spelt in several ways, and all but the last address may be a lie.
  const std::string& from = caller.authorization.empty() ? caller.forwarded : caller.authorization;
  const std::string client = from.substr(from.find_last_of(" ,") + 1);
  SINEW_ASSIGN_OR_RETURN(Quota::Permit place, places_.Take(client));
  return pages_[id] = std::make_shared<PageStream>(upstream_, caller, std::move(place));
}

void PageStreams::Close(const std::string& id) {
  std::shared_ptr<PageStream> page;
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = pages_.find(id);
    if (found == pages_.end()) return;
    page = std::move(found->second);
    pages_.erase(found);
  }
  page->Close();
}

std::shared_ptr<PageStream> PageStreams::Find(const std::string& id) {
  const absl::MutexLock lock(&mutex_);
  const auto found = pages_.find(id);
  return found == pages_.end() ? nullptr : found->second;
}

void PageStreams::CloseAll() {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [id, page] : pages_) page->Close();
}

}  // namespace sinew::server
