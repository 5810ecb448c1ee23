// Decides URLs with Reptile or with Google's library: beside CANDIDATE TASK URLS FOLDER SET DIALECT AGENT VERDICTS.
// CANDIDATE is `reptile`, `google` or `nothing`. `bindings/beside` describes the tasks. Prints the seconds of the wall
// clock and of all threads, and `/proc/self/status`.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "reptile.h"
#include "robots.h"

namespace {

struct Job {
  std::string candidate, task, urls, folder, set, dialect, agent, verdicts;
};

// Returns a URL's verdict as a letter: A, D, or another one.
using Decide = std::function<char(const std::string& url)>;

void Check(reptile_code code, char* message) {
  if (code == REPTILE_CODE_OK) return;
  std::cerr << "beside: error " << code << ": " << (message ? message : "") << '\n';
  std::exit(1);
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::cerr << "beside: cannot read " << path << '\n';
    std::exit(1);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

// Keeps what was made from the robots.txt of each site, or in the task `file` only the last one.
template <typename Made>
class Sites {
 public:
  Sites(const Job& job, std::function<Made(std::string body)> make) : job_(job), make_(std::move(make)) {}

  const Made& Of(const std::string& url) {
    const std::size_t begin = url.find("//") + 2;
    site_.assign(url, 0, url.find('/', begin));
    const auto found = made_.find(site_);
    if (found != made_.end()) return found->second;
    if (job_.task == "file") made_.clear();
    return made_.emplace(site_, make_(Read(job_.folder + '/' + site_.substr(begin)))).first->second;
  }

 private:
  const Job& job_;
  std::function<Made(std::string)> make_;
  std::unordered_map<std::string, Made> made_;
  std::string site_;
};

using Agents = std::shared_ptr<reptile_agents>;

Agents AgentsOf(reptile_set* set, const Job& job) {
  const char* name = job.agent.c_str();
  reptile_agents* agents = nullptr;
  char* message = nullptr;
  Check(reptile_agents_resolve(set, &name, 1, false, &agents, &message), message);
  reptile_set_free(&set);
  return Agents(agents, [](reptile_agents* each) { reptile_agents_free(&each); });
}

char Verdict(const reptile_agents* agents, const std::string& url) {
  std::uint8_t verdict = REPTILE_VERDICT_NONE;
  char* message = nullptr;
  Check(reptile_decide(agents, url.data(), url.size(), &verdict, 1, &message), message);
  return "NADUI"[verdict];
}

Decide Reptile(const Job& job) {
  reptile_set* set = nullptr;
  char* message = nullptr;
  if (job.task == "set") {
    Check(reptile_set_map(job.set.c_str(), &set, &message), message);
    return [agents = AgentsOf(set, job)](const std::string& url) { return Verdict(agents.get(), url); };
  }
  const auto sites = std::make_shared<Sites<Agents>>(job, [&job](const std::string& body) {
    reptile_set* set = nullptr;
    char* message = nullptr;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(body.data());
    Check(reptile_set_parse(bytes, body.size(), job.dialect.c_str(), &set, &message), message);
    return AgentsOf(set, job);
  });
  return [sites](const std::string& url) { return Verdict(sites->Of(url).get(), url); };
}

// The library keeps no parsed form, so it parses the file for each URL.
Decide Google(const Job& job) {
  const auto sites = std::make_shared<Sites<std::string>>(job, [](std::string body) { return body; });
  const auto matcher = std::make_shared<googlebot::RobotsMatcher>();
  return [sites, matcher, agent = job.agent](const std::string& url) {
    return matcher->OneAgentAllowedByRobots(sites->Of(url), agent, url) ? 'A' : 'D';
  };
}

Decide Decider(const Job& job) {
  if (job.candidate == "reptile") return Reptile(job);
  if (job.candidate == "google") return Google(job);
  return [](const std::string&) { return 'A'; };
}

std::string Verdicts(const Job& job, const std::vector<std::string>& urls) {
  const Decide decide = Decider(job);
  std::string verdicts;
  verdicts.reserve(urls.size());
  for (const std::string& url : urls) verdicts += decide(url);
  return verdicts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9) return 2;
  const Job job{argv[1], argv[2], argv[3], argv[4], argv[5], argv[6], argv[7], argv[8]};
  std::vector<std::string> urls;
  std::ifstream lines(job.urls, std::ios::binary);
  for (std::string line; std::getline(lines, line);) urls.push_back(line);
  Verdicts(job, urls);
  const std::clock_t cpu = std::clock();
  const auto begin = std::chrono::steady_clock::now();
  const std::string verdicts = Verdicts(job, urls);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const double processor = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  std::ofstream(job.verdicts, std::ios::binary) << verdicts;
  std::cout << seconds.count() << ' ' << processor << '\n' << Read("/proc/self/status");
}
