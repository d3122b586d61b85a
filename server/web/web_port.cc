#include "server/web/web_port.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>
#include <dlfcn.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <httplib.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/status.h"
#include "server/base/address.h"
#include "server/base/thread_name.h"
#include "server/web/grpc_web.h"
#include "server/web/page_streams.h"
#include "server/web/web_server.h"

namespace sinew::server {
namespace {

constexpr std::size_t kBodyBytes = (std::size_t{4} << 20) + 64;  // a message that the server takes
constexpr std::size_t kUploadBytes = std::size_t{1} << 30;       // what a server may take of a rig
constexpr std::chrono::milliseconds kLook{200};  // between looks at whether the browser is there
constexpr std::chrono::seconds kAnswerTime{10};  // of the server, about a token
constexpr char kCharacter[] = "/character", kMotion[] = "/motion";
constexpr char kUpload[] = "/sinew.v1.RigService/UploadRig";

constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

int HttpStatus(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 204;
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kNotFound:
      return 410;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

void Answer(const absl::Status& status, httplib::Response& response) {
  response.status = HttpStatus(status);
  if (!status.ok()) response.set_content(std::string(status.message()) + "\n", "text/plain");
}

// Refuses a request before its body is read, and then closes the connection: what is left of the
// body would be taken for the next request.
void Refuse(int status, const std::string& text, httplib::Response& response) {
  response.status = status;
  response.set_content_provider(text.size(), "text/plain",
                                [text](std::size_t, std::size_t, httplib::DataSink& sink) {
                                  sink.write(text.data(), text.size());
                                  return false;
                                });
}

bool IsPrintable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return absl::ascii_isprint(c); });
}

WebCaller CallerOf(const httplib::Request& request) {
  std::vector<std::string> hops;
  for (std::size_t k = 0; k < request.get_header_value_count("X-Forwarded-For"); ++k) {
    hops.push_back(request.get_header_value("X-Forwarded-For", k));
  }
  hops.push_back(request.remote_addr);
  return {.authorization = request.get_header_value("Authorization"),
          .forwarded = absl::StrJoin(hops, ", ")};
}

// A folder of its own under that for temporary files, removed with what is in it.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "sinew-page-XXXXXX").string();
    if (::mkdtemp(path.data()) != nullptr) path_ = path;  // with mode 700
  }
  ~PrivateFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }  // empty: there is none

 private:
  std::string path_;
};

// Whether a name is that of a file in the folder, and no way out of it.
bool IsFileName(const std::string& name) {
  constexpr std::size_t kLongest = 200;  // the system takes 255 bytes
  return !name.empty() && name.size() <= kLongest && name != "." && name != ".." &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

// Whether the server takes calls of this caller. Errors of the server.
absl::Status AskServer(const Upstream& upstream, const WebCaller& caller) {
  using Bytes = grpc::ByteBuffer;
  const grpc::internal::RpcMethod method("/sinew.v1.InfoService/GetServerInfo",
                                         grpc::internal::RpcMethod::NORMAL_RPC);
  const std::unique_ptr<grpc::ClientContext> context = upstream.context(caller);
  context->set_deadline(std::chrono::system_clock::now() + kAnswerTime);
  Bytes answer;
  const grpc::Status status = grpc::internal::BlockingUnaryCall<Bytes, Bytes, Bytes, Bytes>(
      upstream.channel.get(), method, context.get(), ToByteBuffer(""), &answer);
  return {static_cast<absl::StatusCode>(status.error_code()), status.error_message()};
}

// Writes what arrives in the queue until `done` says that a message was the last, the browser
// leaves or the port stops.
template <class Done>
bool WriteFrom(WebQueue& queue, const std::atomic<bool>& stopping, bool calls,
               httplib::DataSink& sink, Done done) {
  const std::optional<WebMessage> message = queue.Pop(kLook);
  if (!message) return !stopping && sink.is_writable();
  const std::string bytes = Framed(*message, calls);
  if (!sink.write(bytes.data(), bytes.size())) return false;
  if (done(*message)) sink.done();
  return true;
}

// One forwarded gRPC-Web call; lives as long as its response.
struct WebCall {
  WebQueue queue;
  std::unique_ptr<ForwardedCall> call;
  ~WebCall() { queue.Close(); }
};

}  // namespace

class WebPort::State {
 public:
  explicit State(Options options)
      : options_(std::move(options)),
        streams_(options_.upstream, std::max<std::size_t>(1, options_.connections / 2)),
        http_(options_.connections, options_.tls) {}
  ~State();

  absl::Status Start();
  int port() const { return port_; }

 private:
  // False after an answer.
  bool Allowed(const httplib::Request& request, httplib::Response& response) const;
  bool IsOwn(const httplib::Request& request) const;
  void AddRoutes();
  void Forward(const httplib::Request& request, httplib::Response& response);
  void ForwardUpload(const httplib::Request& request, httplib::Response& response,
                     const httplib::ContentReader& body);
  void TakeFile(const httplib::Request& request, httplib::Response& response,
                const httplib::ContentReader& body);
  void AnswerCall(std::shared_ptr<WebCall> web, httplib::Response& response);
  std::shared_ptr<WebCall> Call(const httplib::Request& request) const;
  void OpenFrames(const httplib::Request& request, httplib::Response& response);
  // The page and call that a request names, or null after an answer.
  std::shared_ptr<PageStream> PageOf(const httplib::Request& request, std::uint32_t& call,
                                     httplib::Response& response);

  const Options options_;
  PageStreams streams_;
  WebServer http_;
  int port_ = 0;
  std::atomic<bool> stopping_ = false, ended_ = false;
  std::atomic<bool> taking_ = false;  // a file
  std::thread thread_;
};

absl::Status WebPort::State::Start() {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::path(options_.page_folder) / "index.html", error)) {
    return absl::NotFoundError(absl::StrCat(options_.page_folder, ": no index.html there"));
  }
  http_.set_payload_max_length(kUploadBytes);
  http_.set_tcp_nodelay(true);
  // The library would let another program listen on the port too, and take its requests.
  http_.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  http_.set_default_headers({{"Content-Security-Policy", kPolicy},
                             {"X-Content-Type-Options", "nosniff"},
                             {"Cross-Origin-Opener-Policy", "same-origin"},
                             {"Cross-Origin-Resource-Policy", "same-origin"},
                             {"Referrer-Policy", "no-referrer"},
                             {"Cache-Control", "no-cache"}});
  http_.set_mount_point("/", options_.page_folder);
  // Sent like this, a file is not compressed: the library would need a second for each visit.
  http_.set_file_request_handler([](const httplib::Request&, httplib::Response& response) {
    const auto file = std::make_shared<const std::string>(std::move(response.body));
    response.body.clear();
    const std::string type = response.get_header_value("Content-Type");
    response.headers.erase("Content-Type");
    response.set_content_provider(
        file->size(), type,
        [file](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
          return sink.write(file->data() + offset, length);
        });
  });
  AddRoutes();
  if (options_.port == 0) {
    port_ = http_.bind_to_any_port(options_.host);
  } else if (http_.bind_to_port(options_.host, options_.port)) {
    port_ = options_.port;
  }
  if (port_ <= 0) {
    return absl::UnavailableError(absl::StrCat("port ", options_.port, ": cannot listen there"));
  }
  thread_ = std::thread([this] {
    NameThread("web");
    http_.listen_after_bind();
    ended_ = true;
  });
  return absl::OkStatus();
}

WebPort::State::~State() {
  stopping_ = true;
  streams_.CloseAll();
  if (!thread_.joinable()) return;
  while (!http_.is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  http_.Finish(options_.last_words);
  http_.stop();
  thread_.join();
}

bool WebPort::State::Allowed(const httplib::Request& request, httplib::Response& response) const {
  if (!IsOwn(request)) {
    Refuse(403, "this port answers its own page only, under names of --web-host\n", response);
    return false;
  }
  // The library limits no chunked body, and reads the body of a GET as the next request.
  if (request.has_header("Transfer-Encoding")) {
    Refuse(501, "Transfer-Encoding: not supported\n", response);
    return false;
  }
  if (request.method != "POST" && request.has_header("Content-Length") &&
      request.get_header_value("Content-Length") != "0") {
    Refuse(400, absl::StrCat("body: got one with ", request.method, ", need none\n"), response);
    return false;
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool file =
      reads && !request.path.starts_with("/view") && !request.path.starts_with("/clips");
  const std::string given = request.get_header_value("Authorization"),
                    need = options_.token ? "Bearer " + *options_.token : given;
  const bool knows =
      given.size() == need.size() && CRYPTO_memcmp(given.data(), need.data(), need.size()) == 0;
  if (!file && !knows) {
    Refuse(401, "no such token: open the link that was printed\n", response);
    return false;
  }
  const WebCaller caller = CallerOf(request);
  if (!IsPrintable(caller.authorization) || !IsPrintable(caller.forwarded)) {
    Refuse(400, "Authorization, X-Forwarded-For: need printable ASCII\n", response);
    return false;
  }
  // The library would join any number of ranges, and unpack a body before it limits its size.
  if (request.has_header("Range")) {
    Refuse(416, "Range: not supported\n", response);
  } else if (request.has_header("Content-Encoding")) {
    Refuse(415, "Content-Encoding: not supported\n", response);
  } else if (request.method == "POST" && !request.has_header("Content-Length")) {
    Refuse(411, "Content-Length: not set\n", response);
  } else {
    const bool large =
        request.path == kUpload || request.path == kCharacter || request.path == kMotion;
    const std::uint64_t most = large ? kUploadBytes : kBodyBytes,
                        length = request.get_header_value<std::uint64_t>("Content-Length");
    if (length <= most) return true;
    Refuse(413, absl::StrCat("body: got ", length, " bytes, need at most ", most, "\n"), response);
  }
  return false;
}

// Browsers leave out port 80, or 443 with TLS.
bool WebPort::State::IsOwn(const httplib::Request& request) const {
  const std::string host = request.get_header_value("Host"),
                    origin = request.get_header_value("Origin");
  const bool tls = options_.tls != nullptr;
  for (const std::string& name :
       {std::string("127.0.0.1"), std::string("localhost"), options_.host}) {
    std::string here = AddressText({.host = name, .port = port_});
    if (port_ == (tls ? 443 : 80)) here.resize(here.rfind(':'));
    if (host == here && (origin.empty() || origin == (tls ? "https://" : "http://") + here)) {
      return true;
    }
  }
  // A proxy in front of a local port has TLS. Another port without TLS was opened on purpose.
  const bool plain = !tls && !IsLocalAddress(AddressText({.host = options_.host, .port = port_}));
  return std::ranges::any_of(options_.hosts, [&](const std::string& name) {
    return host == name && (origin.empty() || origin == (plain ? "http://" : "https://") + name);
  });
}

void WebPort::State::AddRoutes() {
  using Handled = httplib::Server::HandlerResponse;
  http_.set_pre_routing_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        return Allowed(request, response) ? Handled::Unhandled : Handled::Handled;
      });
  http_.Get(
      R"(/(view|clips).*)", [this](const httplib::Request& request, httplib::Response& response) {
        absl::StatusOr<Document> document =
            options_.document != nullptr ? options_.document(request.path)
            // The page asks; an answer, so that browsers do not log an error.
            : request.path == "/view.json"
                ? absl::StatusOr<Document>(Document{.type = "application/json", .bytes = "null"})
                : absl::NotFoundError(request.path + ": there is nothing");
        if (document.ok()) {
          response.set_content(std::move(document->bytes), document->type.c_str());
          return;
        }
        response.status = absl::IsNotFound(document.status()) ? 404 : 500;
        response.set_content(std::string(document.status().message()) + "\n", "text/plain");
      });
  http_.Post(kUpload, [this](const httplib::Request& request, httplib::Response& response,
                             const httplib::ContentReader& body) {
    ForwardUpload(request, response, body);
  });
  for (const char* path : {kCharacter, kMotion}) {
    http_.Post(path,
               [this](const httplib::Request& request, httplib::Response& response,
                      const httplib::ContentReader& body) { TakeFile(request, response, body); });
  }
  http_.Post(R"(/sinew\.v1\.[A-Za-z]+/[A-Za-z]+)",
             [this](const httplib::Request& request, httplib::Response& response) {
               Forward(request, response);
             });
  http_.Post("/frames", [this](const httplib::Request& request, httplib::Response& response) {
    OpenFrames(request, response);
  });
  http_.Post("/poses", [this](const httplib::Request& request, httplib::Response& response) {
    std::uint32_t call = 0;
    if (const auto page = PageOf(request, call, response)) {
      Answer(page->Send(call, request.body), response);
    }
  });
  http_.Delete("/poses", [this](const httplib::Request& request, httplib::Response& response) {
    std::uint32_t call = 0;
    if (const auto page = PageOf(request, call, response)) Answer(page->End(call), response);
  });
}

void WebPort::State::Forward(const httplib::Request& request, httplib::Response& response) {
  const absl::StatusOr<std::string_view> message = MessageOf(request.body);
  if (!message.ok()) return Answer(message.status(), response);
  auto web = Call(request);
  if (web->call->Write(ToByteBuffer(*message))) web->call->WritesDone();
  AnswerCall(std::move(web), response);
}

void WebPort::State::ForwardUpload(const httplib::Request& request, httplib::Response& response,
                                   const httplib::ContentReader& body) {
  auto web = Call(request);
  MessageSplitter splitter(kBodyBytes);
  absl::Status status;
  bool taken = true;  // false: the call has ended, and the rest of the body is read for nothing
  body([&](const char* data, std::size_t size) {
    status = splitter.Push({data, size}, [&](std::string_view message) {
      taken = taken && web->call->Write(ToByteBuffer(message));
    });
    return status.ok();
  });
  if (status.ok()) status = splitter.End();
  if (!status.ok()) return Refuse(400, std::string(status.message()) + "\n", response);
  if (taken) web->call->WritesDone();
  AnswerCall(std::move(web), response);
}

void WebPort::State::TakeFile(const httplib::Request& request, httplib::Response& response,
                              const httplib::ContentReader& body) {
  const std::string name = request.get_param_value("name");
  if (options_.take == nullptr) return Refuse(404, "this program takes no files\n", response);
  if (!IsFileName(name)) return Refuse(400, "name: need the name of a file\n", response);
  if (taking_.exchange(true)) {
    return Refuse(409, "another file is being read; try again when it is shown\n", response);
  }
  const absl::Cleanup done = [this] { taking_ = false; };
  const PrivateFolder folder;
  const std::string file = folder.path() + "/" + name;
  std::ofstream out;
  if (!folder.path().empty()) out.open(file, std::ios::binary);
  const bool whole = body([&](const char* data, std::size_t size) {
    return static_cast<bool>(out.write(data, static_cast<std::streamsize>(size)));
  });
  out.close();
  if (!out || folder.path().empty())
    return Refuse(507, "no space for the file among temporary ones\n", response);
  if (!whole) return Refuse(400, "the file did not arrive\n", response);
  const absl::Status status = options_.take(request.path, file);
  Answer({status.code(), absl::StrReplaceAll(status.message(), {{folder.path() + "/", ""}})},
         response);
}

std::shared_ptr<WebCall> WebPort::State::Call(const httplib::Request& request) const {
  auto web = std::make_shared<WebCall>();
  web->call = std::make_unique<ForwardedCall>(options_.upstream, CallerOf(request), request.path, 0,
                                              web->queue);
  return web;
}

void WebPort::State::AnswerCall(std::shared_ptr<WebCall> web, httplib::Response& response) {
  response.set_chunked_content_provider(
      "application/grpc-web+proto",
      [this, web = std::move(web)](std::size_t, httplib::DataSink& sink) {
        return WriteFrom(web->queue, stopping_, false, sink,
                         [](const WebMessage& last) { return last.flags == kTrailer; });
      });
}

void WebPort::State::OpenFrames(const httplib::Request& request, httplib::Response& response) {
  const std::string id = request.get_param_value("page");
  const WebCaller caller = CallerOf(request);
  if (!options_.token) {  // a place is for those whom the server admits
    if (const absl::Status admitted = AskServer(options_.upstream, caller); !admitted.ok()) {
      return Answer(admitted, response);
    }
  }
  absl::StatusOr<std::shared_ptr<PageStream>> page = streams_.Open(id, caller);
  if (!page.ok()) return Answer(page.status(), response);
  response.set_chunked_content_provider(
      "application/octet-stream",
      [this, page = *std::move(page)](std::size_t, httplib::DataSink& sink) {
        return WriteFrom(page->queue(), stopping_, true, sink,
                         [](const WebMessage&) { return false; });
      },
      [this, id](bool) { streams_.Close(id); });
}

std::shared_ptr<PageStream> WebPort::State::PageOf(const httplib::Request& request,
                                                   std::uint32_t& call,
                                                   httplib::Response& response) {
  const std::optional<std::uint32_t> number = ParseCallNumber(request.get_param_value("call"));
  if (!number || *number == 0) {
    Answer(InvalidArgument("call: need a number from 1 on"), response);
    return nullptr;
  }
  call = *number;
  auto page = streams_.Find(request.get_param_value("page"));
  if (page == nullptr) {
    Answer(absl::FailedPreconditionError("page: open /frames for it first"), response);
  } else if (!page->IsOf(CallerOf(request))) {
    Answer(absl::PermissionDeniedError("page: another token opened it"), response);
    return nullptr;
  }
  return page;
}

absl::StatusOr<std::string> WebPort::PageFolder() {
  std::error_code error;
  const auto has_page = [&](const std::filesystem::path& folder) {
    return std::filesystem::exists(folder / "index.html", error);
  };
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed =
      program.parent_path().parent_path() / "share" / "sinew" / "web";
  if (has_page(installed)) return installed.string();
  Dl_info module{};
  if (::dladdr(reinterpret_cast<void*>(&WebPort::PageFolder), &module) != 0) {
    const auto packaged = std::filesystem::path(module.dli_fname).parent_path() / "web";
    if (has_page(packaged)) return packaged.string();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the page is not installed: ", installed.string(),
      " has no index.html; `cmake --build build/release --target web_page` builds it (needs npm)"));
}

absl::StatusOr<std::unique_ptr<WebPort>> WebPort::Start(Options options) {
  auto state = std::make_unique<State>(std::move(options));
  SINEW_RETURN_IF_ERROR(state->Start());
  return std::unique_ptr<WebPort>(new WebPort(std::move(state)));
}

WebPort::WebPort(std::unique_ptr<State> state) : state_(std::move(state)) {}
WebPort::~WebPort() = default;

int WebPort::port() const {
  return state_->port();
}

}  // namespace sinew::server
