/* Reptile: decides URLs by compiled robots.txt files.
 *
 * Made by cbindgen from bindings/c/src; do not edit.
 *
 * What holds for every function:
 *
 * - It returns a code. If that is not REPTILE_CODE_OK and `message` is not null, `*message` is the text of the error, which the
 *   caller frees with reptile_text_free; otherwise `*message` is null. `message` may be null.
 * - No call ends the process, except where memory runs out. Null pointers, lengths beyond half of the address space, and handles
 *   that were freed, are of another kind or were never made are REPTILE_CODE_ARGUMENT; just reptile_decide does not look whether
 *   its handle was freed.
 * - After an error no verdict is left: verdicts are set to REPTILE_VERDICT_NONE first, which is 0.
 * - Sets and agents do not change: any number of threads may use one at the same time, as long as none of them frees it. Agents
 *   keep what they need of their set, which may be freed before them.
 * - What the library gives out is freed by the library's functions only.
 */

#ifndef REPTILE_H
#define REPTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The structures of the Arrow C data and C stream interfaces. Programs that use them have their definitions. */
struct ArrowArray;
struct ArrowArrayStream;
struct ArrowSchema;

// What a call resulted in.
typedef enum {
    // The call did what it is for.
    REPTILE_CODE_OK = 0,
    // A null pointer, a length that cannot be, a buffer of another length, a text that is not UTF-8, or a handle that is
    // not in use.
    REPTILE_CODE_ARGUMENT = 1,
    // A file cannot be read.
    REPTILE_CODE_IO = 2,
    // The bytes are not a set of this format version, or they are damaged.
    REPTILE_CODE_FORMAT = 3,
    // A crawler's name cannot be resolved or is most likely misspelt; the text says what to write.
    REPTILE_CODE_CRAWLER = 4,
    // Something is over a limit, which the text names.
    REPTILE_CODE_LIMIT = 5,
    // An unknown column, or none.
    REPTILE_CODE_COLUMN = 6,
    // An Arrow array or stream is not one of texts, has no column of URLs, contradicts itself, or was released already.
    REPTILE_CODE_ARROW = 7,
    // Another error of the library; the text says which.
    REPTILE_CODE_OTHER = 8,
    // A mistake in the library, which was caught.
    REPTILE_CODE_PANIC = 9,
} reptile_code;

// The verdict for one URL and one crawler, in a byte.
typedef enum {
    // No verdict: the call failed. The value is 0, so that memory that was never written to does not allow anything.
    REPTILE_VERDICT_NONE = 0,
    // The rules allow the URL, or no rule matches it.
    REPTILE_VERDICT_ALLOW = 1,
    // A rule or a failed fetch disallows the URL.
    REPTILE_VERDICT_DISALLOW = 2,
    // No robots.txt is known for the origin of the URL. What to do with it is your choice.
    REPTILE_VERDICT_UNKNOWN = 3,
    // The text is not a valid URL.
    REPTILE_VERDICT_INVALID = 4,
} reptile_verdict;

// Why the group that the crawler obeys is for it.
typedef enum {
    // No group is for the crawler.
    REPTILE_GROUP_NONE = 0,
    // It is the default group, the group for `*`.
    REPTILE_GROUP_DEFAULT = 1,
    // The group names the crawler.
    REPTILE_GROUP_NAMED = 2,
} reptile_group;

// The kind of the deciding rule.
typedef enum {
    // No rule decided.
    REPTILE_RULE_KIND_NONE = 0,
    // An `Allow` line.
    REPTILE_RULE_KIND_ALLOW = 1,
    // A `Disallow` line.
    REPTILE_RULE_KIND_DISALLOW = 2,
} reptile_rule_kind;

// Crawlers, resolved by a set, which they keep alive. Any number of threads may use them at the same time.
typedef struct reptile_agents reptile_agents;

// A compiled set of robots.txt files, or one robots.txt. Any number of threads may use it at the same time.
typedef struct reptile_set reptile_set;

// A verdict with its reasons. The library makes it, and later versions may add fields at the end.
typedef struct {
    // The verdict.
    reptile_verdict verdict;
    // Why the group that the crawler obeys is for it.
    reptile_group group;
    // The kind of the deciding rule.
    reptile_rule_kind rule_kind;
    // The line of the deciding rule in the robots.txt, from 1; 0 if no rule decided, or the set has no line numbers.
    uint32_t line;
    // The path of the deciding rule, in normal form, with a NUL after it; empty if no rule decided.
    const char *rule;
    // The bytes of the rule, which may be anything but are mostly ASCII.
    size_t rule_len;
    // The reason in a few words, such as `rule`, `no rule matches`, `404`. Ends with NUL.
    const char *reason;
    // The bytes of the reason.
    size_t reason_len;
} reptile_explanation;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Frees a text that a call gave, such as `*message`. Null is allowed. Any thread may call it.
//
// # Safety
// The text is null, or comes from a function of this library that says so, and was not freed before.
void reptile_text_free(char *text);

// The version of the library, such as `0.1.0`. The text lives as long as the program. Any thread may call it.
const char *reptile_version(void);

// The version of the set format that the library reads. Any thread may call it.
uint32_t reptile_format_version(void);

// Reads a set file into memory. Changing or removing the file afterwards changes nothing. Any thread may call it.
//
// # Safety
// `path` is null or ends with NUL (bytes on Unix, UTF-8 elsewhere); `set` and `message` are null or may be written to.
reptile_code reptile_set_read(const char *path,
                              reptile_set **set,
                              char **message);

// Maps a set file into memory: in microseconds, whatever its size, and processes share its pages. Any thread may call it.
//
// The one danger: as long as the set or agents of it are in use, nobody may write into the file or shorten it, in this process
// or another. Bytes that change may give any verdict, and reading bytes that were cut off ends the process (SIGBUS). Replacing
// the file by renaming another one over it is fine, and is what the command does. If you are not sure, use
// `reptile_set_read`.
//
// # Safety
// As `reptile_set_read`, and what is said above about the file.
reptile_code reptile_set_map(const char *path,
                             reptile_set **set,
                             char **message);

// Opens a set that is in memory. The bytes are copied. Any thread may call it.
//
// # Safety
// `bytes` is null, or `len` bytes can be read there; `set` and `message` are null or may be written to.
reptile_code reptile_set_from_bytes(const uint8_t *bytes,
                                    size_t len,
                                    reptile_set **set,
                                    char **message);

// Reads one robots.txt, for URLs of any origin: the caller knows which it is from. `dialect` is a name such as `google`,
// `google-lib` or `rfc9309`; null is `google`. Any thread may call it.
//
// # Safety
// `body` is null, or `len` bytes can be read there; `dialect` is null or ends with NUL; `set` and `message` are null or may be
// written to.
reptile_code reptile_set_parse(const uint8_t *body,
                               size_t len,
                               const char *dialect,
                               reptile_set **set,
                               char **message);

// Reads every byte of a set and proves that it is exactly what writing its content gives; with `deep`, also that its automata
// are what its rules compile to, which takes about as long as compiling did. A set that was verified gives no error
// afterwards. Uses all threads. Any thread may call it.
//
// # Safety
// `set` is null or a set that nobody frees meanwhile; `message` is null or may be written to.
reptile_code reptile_set_verify(const reptile_set *set,
                                bool deep,
                                char **message);

// The number of origins of a set; 0 for one robots.txt, and for a pointer that is not a set in use. Any thread may call it.
//
// # Safety
// `set` is null or a set that nobody frees meanwhile.
uint64_t reptile_set_len(const reptile_set *set);

// Frees a set and sets the variable to null. Null, and a variable that is null, are fine. Agents of the set stay valid. A set
// that was freed already, through another variable, is `REPTILE_CODE_ARGUMENT`.
//
// # Safety
// `set` is null or may be read and written to. No other thread uses the set.
reptile_code reptile_set_free(reptile_set **set);

// Resolves crawlers: product tokens or known crawlers (`GPTBot`), chains of product tokens (`Googlebot-News>Googlebot>*`), `*` for
// any other crawler, or groups of crawlers (`@ai-training`, `@search`).
//
// A name that cannot be one is an error that says what to write, and so is a name that no robots.txt names and that is one letter
// off from a known crawler's, unless `exact`. Any thread may call it.
//
// # Safety
// `set` is null or a set that nobody frees meanwhile; `names` is null, or `names_len` texts that end with NUL can be read there;
// `agents` and `message` are null or may be written to.
reptile_code reptile_agents_resolve(const reptile_set *set,
                                    const char *const *names,
                                    size_t names_len,
                                    bool exact,
                                    reptile_agents **agents,
                                    char **message);

// The number of crawlers, which is more than that of the names if one of them is a group; 0 for a pointer that is not to agents in
// use. Any thread may call it.
//
// # Safety
// `agents` is null or agents that nobody frees meanwhile.
size_t reptile_agents_len(const reptile_agents *agents);

// The name of one of the crawlers, as it was given; null if there are not so many. The text lives as long as the agents. Any
// thread may call it.
//
// # Safety
// `agents` is null or agents that nobody frees meanwhile.
const char *reptile_agents_name(const reptile_agents *agents,
                                size_t agent);

// Frees agents and sets the variable to null. Null, and a variable that is null, are fine. Agents that were freed already, through
// another variable, are `REPTILE_CODE_ARGUMENT`.
//
// # Safety
// `agents` is null or may be read and written to. No other thread uses the agents.
reptile_code reptile_agents_free(reptile_agents **agents);

// Decides one URL for each of the crawlers: `verdicts[j]` is for the crawler `j`. `verdicts_len` has to be the number of crawlers.
// The URL need not end with NUL, and is any bytes; one that is malformed is not an error but `REPTILE_VERDICT_INVALID`. Any thread
// may call it.
//
// It is the only function that does not look whether its handle was freed, which would take longer than to decide.
//
// # Safety
// `agents` is null or agents that nobody frees meanwhile; `url` is null, or `url_len` bytes can be read there; `verdicts` is null,
// or `verdicts_len` bytes can be written there; `message` is null or may be written to.
reptile_code reptile_decide(const reptile_agents *agents,
                            const char *url,
                            size_t url_len,
                            uint8_t *verdicts,
                            size_t verdicts_len,
                            char **message);

// Decides one URL for each of the crawlers as `reptile_decide` does, by the rules that were in force at a time, in seconds since 1970: as
// a set that was compiled for that time. The set has to be one by time (`reptile compile --by-time`), or the code is
// `REPTILE_CODE_OTHER`. Any thread may call it.
//
// # Safety
// As `reptile_decide`.
reptile_code reptile_decide_at(const reptile_agents *agents,
                               const char *url,
                               size_t url_len,
                               int64_t time,
                               uint8_t *verdicts,
                               size_t verdicts_len,
                               char **message);

// Decides many URLs for each of the crawlers: `verdicts[i * agents + j]` is for the URL `i`, of `url_lens[i]` bytes at `urls[i]`,
// and the crawler `j` of `agents`. `verdicts_len` has to be the number of URLs times that of crawlers. With `all_threads` the URLs
// are shared out to all processors, otherwise the calling thread does the work. Any thread may call it.
//
// Faster for each URL than `reptile_decide`, and takes 17 bytes for each of the URLs that are decided at a time, 1 MB at most for
// verdicts.
//
// # Safety
// `agents` is null or agents that nobody frees meanwhile; `urls` and `url_lens` are null, or so many values can be read there, and
// each of the URLs is null, or so many bytes can be read there; `verdicts` is null, or `verdicts_len` bytes can be written there;
// `message` is null or may be written to.
reptile_code reptile_decide_many(const reptile_agents *agents,
                                 const char *const *urls,
                                 const size_t *url_lens,
                                 size_t urls_len,
                                 bool all_threads,
                                 uint8_t *verdicts,
                                 size_t verdicts_len,
                                 char **message);

// Decides many URLs for each of the crawlers as `reptile_decide_many` does, each by the rules that were in force at its own time: `times[i]`,
// in seconds since 1970. The set has to be one by time, or the code is `REPTILE_CODE_OTHER`. Any thread may call it.
//
// # Safety
// As `reptile_decide_many`; `times` is null, or `urls_len` values can be read there.
reptile_code reptile_decide_many_at(const reptile_agents *agents,
                                    const char *const *urls,
                                    const size_t *url_lens,
                                    const int64_t *times,
                                    size_t urls_len,
                                    bool all_threads,
                                    uint8_t *verdicts,
                                    size_t verdicts_len,
                                    char **message);

// Decides one URL for the crawler number `agent`, with reasons. The explanation is the caller's, who frees it with
// `reptile_explanation_free`. Any thread may call it.
//
// # Safety
// `agents` is null or agents that nobody frees meanwhile; `url` is null, or `url_len` bytes can be read there; `explanation` and
// `message` are null or may be written to.
reptile_code reptile_explain(const reptile_agents *agents,
                             size_t agent,
                             const char *url,
                             size_t url_len,
                             reptile_explanation **explanation,
                             char **message);

// Decides one URL with reasons as `reptile_explain` does, by the rules that were in force at a time, in seconds since 1970. The set
// has to be one by time (`reptile compile --by-time`), or the code is `REPTILE_CODE_OTHER`. Any thread may call it.
//
// # Safety
// As `reptile_explain`.
reptile_code reptile_explain_at(const reptile_agents *agents,
                                size_t agent,
                                const char *url,
                                size_t url_len,
                                int64_t time,
                                reptile_explanation **explanation,
                                char **message);

// Frees an explanation and sets the variable to null. Null, and a variable that is null, are fine. One that was freed already,
// through another variable, is `REPTILE_CODE_ARGUMENT`.
//
// # Safety
// `explanation` is null or may be read and written to. No other thread uses the explanation.
reptile_code reptile_explanation_free(reptile_explanation **explanation);

// Decides an Arrow array of URLs: texts or bytes in any of Arrow's types for them, a dictionary of these, or a struct with such a
// column, which is then called `url_column`, or `url`, or the only one of texts (`url_column` is null).
//
// `*out` becomes a struct array, of the type `*out_schema`, with a row for each URL. `columns` is a list such as `url,verdict,line`:
// `url`, then for each crawler `NAME:verdict`, `NAME:line`, `NAME:rule`, `NAME:group`, `NAME:reason`, `NAME:ruleset`, then `capture_time` (of
// the capture that decides), `mask` and `refused`, the crawlers that may not fetch as bits and as a list; null is `verdict`. Where the
// URL is null, so is all else.
//
// With `time_column`, which may be null, each URL is decided by the rules of its own time, in that column beside it: times, dates, or whole
// numbers of seconds since 1970 (of milliseconds, if they have thirteen digits). A row without a time is `invalid`. The set has to be one
// by time.
//
// The call takes over `*urls` and `*urls_schema`, also if it fails: it releases them and marks them as released. The caller releases
// `*out` and `*out_schema`, which are marked as released if the call fails. The texts are not copied. With `all_threads` the work is
// shared out to all processors. Any thread may call it.
//
// # Safety
// `agents` is null or agents that nobody frees meanwhile; `columns`, `url_column` and `time_column` are null or end with NUL; `urls` and
// `urls_schema` are null, or keep the rules of the C data interface; `out`, `out_schema` and `message` are null or may be written to.
reptile_code reptile_decide_arrow(const reptile_agents *agents,
                                  const char *columns,
                                  const char *url_column,
                                  const char *time_column,
                                  bool all_threads,
                                  struct ArrowArray *urls,
                                  struct ArrowSchema *urls_schema,
                                  struct ArrowArray *out,
                                  struct ArrowSchema *out_schema,
                                  char **message);

// Decides an Arrow stream of URLs as `*out` is read: batches of at most a million rows, as `reptile_decide_arrow` gives them. An error
// while it is read is an error of the stream, with its text.
//
// The call takes over `*urls`, also if it fails. The caller releases `*out`, which is marked as released if the call fails; it keeps what
// it needs of the agents, which may be freed before. Any thread may call it, and any one thread at a time may read the stream.
//
// # Safety
// `agents` is null or agents that nobody frees meanwhile; `columns`, `url_column` and `time_column` are null or end with NUL; `urls` is null, or keeps
// the rules of the C stream interface; `out` and `message` are null or may be written to.
reptile_code reptile_decide_arrow_stream(const reptile_agents *agents,
                                         const char *columns,
                                         const char *url_column,
                                         const char *time_column,
                                         bool all_threads,
                                         struct ArrowArrayStream *urls,
                                         struct ArrowArrayStream *out,
                                         char **message);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* REPTILE_H */
