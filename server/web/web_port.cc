#include "server/web/web_port.h"

#include <absl/strings/str_cat.h>
#include <httplib.h>
#include <openssl/crypto.h>

#include <chrono>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/status.h"
#include "server/web/grpc_web.h"
#include "server/web/page_streams.h"

namespace sinew::server {
namespace {

// A browser keeps up to six connections, each of which holds a thread.
constexpr std::size_t kThreads = 64;
constexpr std::size_t kBodyBytes = std::size_t{4} << 20;  // as the server takes
constexpr std::size_t kRequestsPerConnection = 1'000'000;
// A page that stops reading is the server's business, which gives it 30 s.
constexpr std::chrono::seconds kReadTime{5}, kWriteTime{60};
constexpr std::chrono::milliseconds kLook{200};  // between looks at whether the browser is there

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
    case absl::StatusCode::kResourceExhausted:
      return 429;
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

// Writes what arrives in the queue until `done` says that a message was the last, the browser
// leaves or the port stops.
template <class Done>
bool WriteFrom(WebQueue& queue, const std::atomic<bool>& stopping, bool calls,
               httplib::DataSink& sink, Done done) {
  const std::optional<WebMessage> message = queue.Pop(kLook);
  if (stopping) return false;
  if (!message) return sink.is_writable();
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
  explicit State(Options options) : options_(std::move(options)), streams_(options_.upstream) {}
  ~State();

  absl::Status Start();
  int port() const { return port_; }

 private:
  // False after an answer.
  bool Allowed(const httplib::Request& request, httplib::Response& response) const;
  bool IsOwn(const httplib::Request& request) const;
  void AddRoutes();
  void Forward(const httplib::Request& request, httplib::Response& response);
  void OpenFrames(const httplib::Request& request, httplib::Response& response);
  // The page and call that a request names, or null after an answer.
  std::shared_ptr<PageStream> PageOf(const httplib::Request& request, std::uint32_t& call,
                                     httplib::Response& response);

  const Options options_;
  PageStreams streams_;
  httplib::Server http_;
  int port_ = 0;
  std::atomic<bool> stopping_ = false, ended_ = false;
  std::thread thread_;
};

absl::Status WebPort::State::Start() {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::path(options_.page_folder) / "index.html", error)) {
    return absl::NotFoundError(absl::StrCat(options_.page_folder, ": no index.html there"));
  }
  http_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  http_.set_payload_max_length(kBodyBytes + 64);
  http_.set_keep_alive_max_count(kRequestsPerConnection);
  http_.set_keep_alive_timeout(1);  // s; an idle connection does not see the port stop
  http_.set_read_timeout(kReadTime);
  http_.set_write_timeout(kWriteTime);
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
    port_ = http_.bind_to_any_port("127.0.0.1");
  } else if (http_.bind_to_port("127.0.0.1", options_.port)) {
    port_ = options_.port;
  }
  if (port_ <= 0) {
    return absl::UnavailableError(absl::StrCat("port ", options_.port, ": cannot listen there"));
  }
  thread_ = std::thread([this] {
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
  http_.stop();
  thread_.join();
}

bool WebPort::State::Allowed(const httplib::Request& request, httplib::Response& response) const {
  if (!IsOwn(request)) {
    Refuse(403, "this port answers its own page only\n", response);
    return false;
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool file =
      reads && !request.path.starts_with("/view") && !request.path.starts_with("/clips");
  const std::string given = request.get_header_value("Authorization"),
                    need = "Bearer " + options_.token;
  const bool knows =
      given.size() == need.size() && CRYPTO_memcmp(given.data(), need.data(), need.size()) == 0;
  if (!file && !knows) {
    Refuse(401, "no such token: open the link that was printed\n", response);
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
    return true;
  }
  return false;
}

// Browsers leave out port 80.
bool WebPort::State::IsOwn(const httplib::Request& request) const {
  const std::string host = request.get_header_value("Host"),
                    origin = request.get_header_value("Origin");
  for (const char* name : {"127.0.0.1", "localhost"}) {
    const std::string here = port_ == 80 ? name : absl::StrCat(name, ":", port_);
    if (host == here && (origin.empty() || origin == "http://" + here)) return true;
  }
  return false;
}

void WebPort::State::AddRoutes() {
  using Handled = httplib::Server::HandlerResponse;
  http_.set_pre_routing_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        return Allowed(request, response) ? Handled::Unhandled : Handled::Handled;
      });
  http_.Get(R"(/(view|clips).*)",
            [this](const httplib::Request& request, httplib::Response& response) {
              absl::StatusOr<Document> document = options_.document(request.path);
              if (document.ok()) {
                response.set_content(std::move(document->bytes), document->type.c_str());
                return;
              }
              response.status = absl::IsNotFound(document.status()) ? 404 : 500;
              response.set_content(std::string(document.status().message()) + "\n", "text/plain");
            });
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
  const auto web = std::make_shared<WebCall>();
  web->call = std::make_unique<ForwardedCall>(options_.upstream, request.path, 0, web->queue);
  if (web->call->Write(ToByteBuffer(*message))) web->call->WritesDone();
  response.set_chunked_content_provider(
      "application/grpc-web+proto", [this, web](std::size_t, httplib::DataSink& sink) {
        return WriteFrom(web->queue, stopping_, false, sink,
                         [](const WebMessage& last) { return last.flags == kTrailer; });
      });
}

void WebPort::State::OpenFrames(const httplib::Request& request, httplib::Response& response) {
  const std::string id = request.get_param_value("page");
  absl::StatusOr<std::shared_ptr<PageStream>> page = streams_.Open(id);
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
  }
  return page;
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
