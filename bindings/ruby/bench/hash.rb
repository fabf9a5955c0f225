# frozen_string_literal: true

# Hammerspace beside Ruby's own Hash, and beside a program that holds no data: `hash.rb SCRATCH [--small]` prints a JSON
# list of rows of the benches' schema.
#
# Both do the same in turn, many times, and the medians count. The time that the loop itself takes is measured too, in the
# same turns, and subtracted from both. It is the processor's time, for that on the wall tells of whoever else is on the
# machine; except of writing, which has several threads and waits for disks.

require 'hammerspace'
require 'json'
require 'rbconfig'
require 'tmpdir'

SMALL = ARGV.delete('--small')
KEYS = SMALL ? 2_000 : 100_000
ROUNDS = SMALL ? 3 : 15
MANY = SMALL ? 5_000 : 500_000
TURNS = SMALL ? 1 : 8
REQUESTS = SMALL ? 60 : 1200
SLICES = 12
RANDOM = Random.new(4711)
ROWS = []

def seconds(clock = Process::CLOCK_PROCESS_CPUTIME_ID)
  started = Process.clock_gettime(clock)
  yield
  Process.clock_gettime(clock) - started
end

def median(numbers) = numbers.sort[numbers.size / 2]

# Leaves nothing of what ran before to the next: garbage is collected, and sorted by glibc, which puts off sorting what is
# freed until somebody asks for more than a kilobyte, who then pays for all.
def settle
  GC.start
  String.new(capacity: 100_000)
end

# The median time of each work, in seconds. They run in turn; a first turn does not count.
def in_turn(works, clock = Process::CLOCK_PROCESS_CPUTIME_ID)
  turns = Array.new(ROUNDS + 1) do
    works.transform_values do |work|
      settle
      seconds(clock, &work)
    end
  end
  works.keys.to_h { |name| [name, median(turns.drop(1).map { |turn| turn[name] })] }
end

def row(name, unit, ours, peer, peer_name, goal = nil)
  goal = nil if SMALL
  ROWS << { name: name, unit: unit, ours: ours, peer: peer, peer_name: peer_name, goal: goal }
end

def pairs(count)
  Array.new(count) { |at| ["key.#{at * 7919 % 1_000_003}.name", RANDOM.bytes(RANDOM.rand(50..200))] }
end

def check(name, ours, peer)
  raise "#{name}: not what Ruby's Hash gives" unless ours == peer
end

# Nanoseconds per call of each, without the loop.
def per_call(name, keys, works)
  loops = works.merge(loop: -> { keys.each { |key| key } })
  times = in_turn(loops)
  works.keys.to_h { |work| [work, (times[work] - times[:loop]) * 1e9 / keys.size] }
end

def reads(hash, copying, frozen)
  all = hash.keys.shuffle(random: RANDOM).map(&:dup)
  hot = Array.new(all.size) { |at| all[at % [1000, all.size].min] }
  misses = all.map { |key| "#{key}." }
  all.each { |key| check(key, [copying[key], frozen[key]], [hash[key]] * 2) }

  goals = { "h[key], random" => [all, '<= 1.6', '<= 1.2'], 'h[key], 1000 hot keys' => [hot, '<= 3', '<= 1.6'] }
  goals.each do |name, (keys, *limits)|
    times = per_call(name, keys, copying: -> { keys.each { |key| copying[key] } },
                                 frozen: -> { keys.each { |key| frozen[key] } },
                                 hash: -> { keys.each { |key| hash[key] } })
    %i[copying frozen].zip(limits) { |kind, goal| row("#{name}, #{kind}", 'ns', times[kind], times[:hash], 'Hash', goal) }
  end
  { 'h[key], misses' => misses }.each do |name, keys|
    times = per_call(name, keys, ours: -> { keys.each { |key| copying[key] } }, hash: -> { keys.each { |key| hash[key] } })
    row(name, 'ns', times[:ours], times[:hash], 'Hash', '<= 1.1')
  end
  { 'key?, hits' => all, 'key?, misses' => misses }.each do |name, keys|
    times = per_call(name, keys, ours: -> { keys.each { |key| copying.key?(key) } },
                                 hash: -> { keys.each { |key| hash.key?(key) } })
    row(name, 'ns', times[:ours], times[:hash], 'Hash', '<= 1.1')
  end
end

# Where nothing has changed: a refresh, beside a method that does nothing; and a request that refreshes first, beside the same
# application without the middleware, which answers with one text and does nothing else.
def refreshing(hash, frozen)
  hot = hash.keys.first(1000)
  requests = Array.new(KEYS) { |at| { 'PATH_INFO' => "/#{hot[at % hot.size]}" } }
  nothing = Class.new { def refresh = nil }.new
  times = per_call('refresh', requests, ours: -> { requests.each { |_| frozen.refresh } },
                                        nothing: -> { requests.each { |_| nothing.refresh } })
  row('refresh, nothing new', 'ns', times[:ours], times[:nothing], 'an empty method')

  app = ->(env) { [200, { 'content-type' => 'text/plain' }, [frozen.fetch(env['PATH_INFO'][1..], 'what?')]] }
  refreshed = Hammerspace::Refresh.new(app, frozen)
  requests.first(hot.size).zip(hot) { |env, key| check(key, refreshed.call(env), [200, app.call(env)[1], [hash[key]]]) }
  times = per_call('request', requests, ours: -> { requests.each { |env| refreshed.call(env) } },
                                        without: -> { requests.each { |env| app.call(env) } })
  row('a request through Hammerspace::Refresh, nothing new', 'ns', times[:ours], times[:without], 'without it')
end

def iteration(hash, copying, frozen)
  check('each', copying.to_a, hash.to_a)
  works = { copying: copying, frozen: frozen, hash: hash }.transform_values { |of| -> { of.each { |key, value| } } }
  # What it takes to make two strings of each pair, which a Hash has.
  works[:copies] = -> { hash.each { |key, value| [key + '', value + ''] } }
  times = in_turn(works).transform_values { |time| time * 1e9 / hash.size }
  %i[copying frozen].each { |kind| row("each, #{kind}", 'ns', times[kind], times[:hash], 'Hash', '<= 120 ns') }
  row('each, copying, and copies of a Hash', 'ns', times[:copying], times[:copies], 'Hash, copying')
end

# Into an empty one each time, keys and values at hand.
def writing(pairs, directory)
  works = %i[full none].to_h do |durability|
    space = Hammerspace.new(File.join(directory, durability.to_s), durability: durability)
    [durability, lambda {
      space.clear
      pairs.each { |key, value| space[key] = value }
      space.close
    }]
  end
  # A Hash keeps a copy of each key, and the values must be its own for the comparison to be one.
  works[:hash] = lambda {
    hash = {}
    pairs.each { |key, value| hash[key] = value.dup }
  }
  times = in_turn(works, Process::CLOCK_MONOTONIC).transform_values { |time| time * 1e3 }
  row('write all and close', 'ms', times[:none], times[:hash], 'Hash', '<= 1')
  row('write all and close, synced', 'ms', times[:full], times[:hash], 'Hash')
end

# A process that holds `kind` of data, and answers each line of its input with how long in milliseconds what it names took
# each time: a full collection, or the rendering of a page. All render the same thousand texts, and two of them have nothing
# else.
def collector(kind, directory)
  data = case kind
         when 'copying', 'frozen' then Hammerspace.new(File.join(directory, 'space'), frozen: kind == 'frozen')
         else Marshal.load(File.binread(File.join(directory, kind)))
         end
  keys = Array.new(1000) { |at| "key.#{at * 7919 % 1_000_003}.name" }
  item = ->(at, part) { "<li>#{data[keys[(at * 40 + part) % keys.size]]}#{at}</li>" }
  page = -> { Array.new(40) { |part| Array.new(60) { |at| item.call(at, part) }.join } }
  works = { 'full' => [1, -> { GC.start }], 'pages' => [REQUESTS / SLICES, page] }
  $stdin.each_line(chomp: true) do |name|
    count, work = works.fetch(name)
    puts JSON.generate(Array.new(count) { seconds(&work) * 1e3 })
    $stdout.flush
  end
end

# What each of these processes answers, a slice at a time, so that what else the machine does meets them all.
def answers(processes, name, slices)
  turns = Array.new(slices) do
    processes.each_value { |process| process.puts(name) }.transform_values { |process| JSON.parse(process.gets) }
  end
  processes.keys.to_h { |kind| [kind, turns.flat_map { |turn| turn[kind] }] }
end

# What the collector does to processes that live all the while. The first turn does not count: it is when their heaps grow.
# Two hold no data, and differ from each other as two do by chance.
def collections(directory)
  pairs = pairs(MANY)
  { 'hash' => pairs, 'nothing' => pairs.first(1000), 'again' => pairs.first(1000) }.each do |kind, data|
    File.binwrite(File.join(directory, kind), Marshal.dump(data.to_h))
  end
  space = Hammerspace.new(File.join(directory, 'space'), durability: :none)
  space.replace(pairs)
  space.close
  program = [RbConfig.ruby, *$LOAD_PATH.map { |path| "-I#{path}" }, __FILE__, *SMALL, 'collector']
  processes = %w[nothing again copying frozen hash].to_h { |kind| [kind, IO.popen([*program, kind, directory], 'r+')] }
  turns = Array.new(TURNS + 1) { [answers(processes, 'pages', SLICES), answers(processes, 'full', SLICES)] }.drop(1)
  processes.each_value(&:close)
  slowest, full = [:max, :itself].each_with_index.map do |of_turn, which|
    processes.keys.to_h { |kind| [kind, median(turns.map { |turn| turn[which][kind].then(&of_turn) }.flatten)] }
  end
  { 'GC.start' => full, 'slowest request' => slowest }.each do |name, of|
    %w[copying frozen].each { |kind| row("#{name}, #{kind}", 'ms', of[kind], of['nothing'], 'no data', '<= 1.2') }
    row("#{name}, no data either", 'ms', of['again'], of['nothing'], 'no data')
    row("#{name}, Hash", 'ms', of['hash'], of['nothing'], 'no data')
  end
end

if ARGV.first == 'collector'
  collector(*ARGV.drop(1))
else
  Dir.mktmpdir(nil, ARGV.first) do |directory|
    pairs = pairs(KEYS)
    hash = pairs.to_h
    copying = Hammerspace.new(File.join(directory, 'space'), durability: :none)
    copying.replace(hash)
    copying.close
    frozen = Hammerspace.new(copying.path, frozen: true)
    reads(hash, copying, frozen)
    refreshing(hash, frozen)
    iteration(hash, copying, frozen)
    writing(pairs, directory)
  end
  Dir.mktmpdir(nil, ARGV.first) { |directory| collections(directory) }
  puts JSON.generate(ROWS)
end
