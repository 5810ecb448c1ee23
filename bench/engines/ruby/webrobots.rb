# An engine: the gem webrobots (https://rubygems.org/gems/webrobots), which Mechanize uses. It implements the protocol
# in bench/judge/PROTOCOL.md.

require "uri"
require "webrobots"

# Minimum duration of a sample in nanoseconds.
SAMPLE_NS = 1_000_000

MODELS = %w[one-shot parse decide fresh crawl].freeze

# The implementation does not support the request.
class Skip < StandardError; end

# A loaded robots.txt. The gem requests a host's file when it first needs it, and gets the loaded one.
Slot = Struct.new(:origin, :body, :robots) do
  def parse(agent)
    robots = WebRobots.new(agent, http_get: ->(_) { body }, crawl_delay: :ignore)
    # Forces the gem to parse the file now.
    robots.sitemaps("#{origin}/")
    robots
  end

  def for_agent(agent)
    robots[agent] ||= parse(agent)
  end
end

Row = Struct.new(:number, :slot, :agent, :url)

# Returns the next message as pairs of key and value, or nil at the end of the input.
def read_message(input)
  fields = []
  while (line = input.gets("\n"))
    return fields if line == "\n"

    key, length, value = line.split(":", 3)
    raise "expected key:length:value" unless value && length.match?(/\A[0-9]{1,8}\z/)

    missing = length.to_i + 1 - value.bytesize
    value += input.read(missing).to_s if missing.positive?
    raise "expected #{length} bytes and a newline after #{key}" unless value.bytesize == length.to_i + 1 && value.end_with?("\n")

    fields << [key, value.byteslice(0, length.to_i)]
  end
  raise "the input ends within a message" unless fields.empty?
end

def write_message(output, fields)
  message = fields.map { |key, value| "#{key}:#{value.to_s.bytesize}:".b + value.to_s.b + "\n".b }
  output.write(message.join + "\n".b)
  output.flush
end

# Returns UTF-8 text, or nil.
def text_of(bytes)
  text = bytes.dup.force_encoding(Encoding::UTF_8)
  text if text.valid_encoding?
end

# Answers requests.
class Engine
  def initialize
    @slots = {}
  end

  def hello(_)
    [["name", "webrobots"], ["version", Gem::Specification.find_by_name("webrobots").version], ["dialect", "own"], ["language", "Ruby #{RUBY_VERSION}"],
     *%w[load decide].map { |ability| ["can", ability] }, *MODELS.map { |model| ["can", "bench:#{model}"] },
     ["note", "By default it sleeps to honor Crawl-delay; this is turned off here."]]
  end

  def load(request)
    fields = request.to_h
    @slots[fields.fetch("slot").to_i] = Slot.new(fields.fetch("origin"), fields.fetch("body"), {})
    []
  end

  def clear(_)
    @slots.clear
    []
  end

  def decide(request)
    [["verdicts", rows(request).map { |row| letter(row) }.join]]
  end

  def bench(request)
    fields = request.to_h
    model = fields.fetch("model")
    raise Skip, "the model #{model} is not supported" unless MODELS.include?(model)

    rows = rows(request).select { |row| row.slot && row.agent && row.url }
    samples(pass(model, rows), model == "fresh", fields.fetch("budget").to_i)
  end

  private

  def rows(request)
    number = -1
    slot = agent = nil
    request.each_with_object([]) do |(key, value), rows|
      case key
      when "slot" then slot, number = @slots[value.to_i], number + 1
      when "agent" then agent = text_of(value)
      when "url" then rows << Row.new(number, slot, agent, text_of(value))
      end
    end
  end

  def letter(row)
    return "E" unless row.slot
    return "U" unless row.agent && row.url

    row.slot.for_agent(row.agent).allowed?(row.url) ? "A" : "D"
  rescue StandardError, SystemStackError
    "E"
  end

  # Returns a function that makes one pass and counts the disallowed rows.
  def pass(model, rows)
    case model
    when "one-shot" then -> { count(rows) { |row| row.slot.parse(row.agent).allowed?(row.url) } }
    when "parse" then pass("one-shot", rows.uniq(&:number))
    when "crawl"
      # It finds the robots.txt for a URL itself. A host without one gets an empty file.
      bodies = @slots.values.to_h { |slot| [slot.origin, slot.body] }
      origin = ->(url) { url.to_s.delete_suffix("/robots.txt") }
      crawlers = rows.map(&:agent).uniq.to_h do |agent|
        [agent, WebRobots.new(agent, http_get: ->(url) { bodies.fetch(origin.(url), "") }, crawl_delay: :ignore)]
      end
      -> { count(rows) { |row| crawlers[row.agent].allowed?(row.url) } }
    else
      ready = rows.map { |row| [row.slot.for_agent(row.agent), row.url] }
      -> { count(ready) { |robots, url| robots.allowed?(url) } }
    end
  end

  def count(rows)
    rows.count do |row|
      yield(row) == false
    rescue StandardError, SystemStackError
      false
    end
  end

  def samples(pass, is_fresh, budget)
    clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) }
    pass.call unless is_fresh
    total = 0
    samples = []
    loop do
      start = clock.call
      passes = disallowed = 0
      loop do
        disallowed += pass.call
        passes += 1
        break if is_fresh || clock.call - start >= SAMPLE_NS
      end
      elapsed = clock.call - start
      samples << ["sample", "#{elapsed} #{passes} #{disallowed}"]
      total += elapsed
      break samples if is_fresh || total >= budget
    end
  end
end

def reply(engine, request)
  asked = request.to_h["do"]
  raise Skip, "no such request: #{asked}" unless %w[hello load clear decide bench].include?(asked)

  [%w[is ok], *engine.public_send(asked, request)]
rescue Skip => skip
  [%w[is skip], ["why", skip.message]]
rescue StandardError => error
  [%w[is error], ["why", error.message]]
end

$stdin.binmode
replies = $stdout.dup.binmode
# Redirect the gem's output to standard error.
$stdout.reopen($stderr)
engine = Engine.new
while (request = read_message($stdin))
  break if request.first == %w[do stop]

  write_message(replies, reply(engine, request))
end
