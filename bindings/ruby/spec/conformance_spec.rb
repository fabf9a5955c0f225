# frozen_string_literal: true

require 'tomlrb'

# The cases that all languages run: spec/README.md in the root of the repository has their language.
module Conformance
  DIRECTORY = File.expand_path('../../../spec', __dir__)

  # A step that did not give what it says.
  Failure = Class.new(StandardError)

  # What stands for bytes, or for nothing.
  module Word
    def self.parse(text)
      return nil if text == 'nothing'
      return ''.b if text == "''"

      word, times = text.split('*', 2)
      bytes = word.b.gsub(/%(\h\h)/) { [Regexp.last_match(1)].pack('H2') }
      times ? bytes * Integer(times, 10) : bytes
    end

    def self.yes(answer) = answer ? 'yes' : 'no'
  end

  # The directory itself.
  class Disk
    def initialize(path)
      @path = path
    end

    def perform(verb, arguments)
      file, *rest = arguments
      at = File.join(@path, file.to_s)
      case verb
      when 'write' then File.open(at, File::WRONLY | File::CREAT) { |open| open.pwrite(rest[1], Integer(rest[0], 10)) }
      when 'truncate' then File.truncate(at, Integer(rest[0], 10))
      when 'remove' then File.unlink(at)
      when 'link' then File.symlink(rest[0], at)
      when 'mkdir' then Dir.mkdir(@path)
      when 'directories'
        return [Dir.children(@path).count { |name| File.lstat(File.join(@path, name)).directory? }.to_s]
      else raise Failure, "the disk knows no #{verb}"
      end
      []
    end
  end

  # A name of a case: a hash, and what it holds.
  class Handle
    # A hash that found nothing looks again at every read, as the original's do. Cases have readers that do so when they are
    # refreshed; so one that found nothing is not asked before.
    def initialize(path, verb, words)
      options = { create: verb == 'create', frozen: true, durability: :none }
      options.merge!(words.to_h { |word| option(*word.split('=', 2)) })
      @open = -> { Hammerspace.new(path, options) }
      @hash = @open.call
      @nothing = @hash.uid.nil? unless options[:mend]
    end

    def perform(verb, arguments)
      case verb
      when 'refresh' then [Word.yes(@hash.refresh)].tap { @nothing = @hash.uid.nil? }
      when 'get' then arguments.map { |key| here[key] }
      when 'get_many' then here.values_at(*arguments)
      when 'has' then [Word.yes(here.key?(arguments.first))]
      when 'len' then [here.size.to_s]
      when 'pairs' then here.to_a.flatten(1)
      when 'walk' then (@walk = here.each).next
      when 'rest' then [].tap { |pairs| loop { pairs.concat(@walk.next) } }
      when 'hold' then [@held = here[arguments.first]]
      when 'held' then [@held]
      when 'versions' then @hash.versions.filter_map { |version| version.number&.to_s }
      when 'rollback' then [@hash.rollback(*arguments.map { |number| Integer(number, 10) }).to_s]
      else change(verb, arguments)
      end
    end

    private

    # What reads: where the hash found nothing, another one that finds nothing, unless by now there is something to find.
    def here
      return @hash unless @nothing

      empty = @open.call
      empty.uid.nil? ? empty : {}
    end

    def change(verb, arguments)
      return in_turn(verb, arguments) if @turn

      case verb
      when 'update' then @hash.send(:begin_update)
      when 'turn' then begin_turn
      when 'replace' then @hash.replace({})
      when 'put' then @hash[arguments[0]] = arguments[1]
      when 'delete' then delete(arguments[0])
      when 'publish' then return [@hash.publish.to_s]
      when 'discard' then @hash.discard
      when 'clear' then @hash.clear
      else raise Failure, "there is no verb #{verb}"
      end
      []
    end

    def in_turn(verb, arguments)
      turn = @turn
      @turn = nil if %w[publish discard].include?(verb)
      turn.perform(verb, arguments)
    end

    def begin_turn
      turn = Turn.new(@hash)
      turn.begin
      @turn = turn
    end

    # Where nothing is pending, a hash that lacks the key would begin nothing.
    def delete(key)
      @hash.send(:begin_update)
      @hash.delete(key)
    end

    def option(name, value)
      case name
      when 'keep', 'block_size' then [name.to_sym, Integer(value, 10)]
      when 'compression' then [:compression, value]
      when 'mend' then [:mend, true]
      else raise Failure, "there is no option #{name}"
      end
    end
  end

  # A transaction whose block waits for the steps of a case.
  class Turn
    GIVEN_UP = Class.new(StandardError)

    def initialize(hash)
      @hash = hash
      @fiber = Fiber.new { transaction }
    end

    def begin = @fiber.resume

    def perform(verb, arguments)
      case verb
      when 'put', 'delete', 'discard' then @fiber.resume(verb, arguments)
      when 'publish' then return [@fiber.resume(verb, arguments).to_s]
      else raise Failure, "in turn there is no verb #{verb}"
      end
      []
    end

    private

    def transaction
      runs = 0
      @hash.transaction(timeout: 0.05) do |draft|
        raise Hammerspace::ChangedError, 'the block runs again' if (runs += 1) > 1

        write(draft)
      end
      @hash.versions.first.number
    rescue GIVEN_UP
      nil
    end

    def write(draft)
      loop do
        verb, arguments = Fiber.yield
        case verb
        when 'put' then draft[arguments[0]] = arguments[1]
        when 'delete' then draft.delete(arguments[0])
        when 'publish' then break
        when 'discard' then raise GIVEN_UP
        end
      end
    end
  end

  # One case, in a directory of its own.
  class Run
    def initialize(path)
      @path = path
      @disk = Disk.new(path)
      @handles = {}
    end

    # The number of the step that failed, and why; nil if none did.
    def failure_in(steps)
      at = 0
      while at < steps.size
        if steps[at] == 'fork'
          join = steps[at..].index('join') + at
          failed = in_child { steps_failure(steps, (at + 1)...join) }
          return failed if failed

          at = join
        elsif (failed = steps_failure(steps, at..at))
          return failed
        end
        at += 1
      end
      nil
    end

    private

    def steps_failure(steps, range)
      range.each do |at|
        step(steps[at])
      rescue Failure => failure
        return [at + 1, "`#{steps[at]}`: #{failure.message}"]
      end
      nil
    end

    # The child ends as any: with what it has to do at exit.
    def in_child
      reader, writer = IO.pipe
      child = fork { writer.write(Marshal.dump(yield)) }
      writer.close
      said = reader.read
      Process.wait(child)
      said.empty? ? [0, 'the child died'] : Marshal.load(said)
    end

    def step(text)
      call, arrow, expected = text.partition(/ ->(?: |\z)/)
      outcome = outcome_of(call)
      raise Failure, outcome.to_s if arrow.empty? && outcome.is_a?(String)
      return if arrow.empty?

      wanted = expected.start_with?('error ') ? expected : expected.split.map { |word| Word.parse(word) }
      raise Failure, "gives #{outcome.inspect[0, 200]}" unless outcome == wanted
    end

    # Its results, or `error KIND`.
    def outcome_of(call)
      name, verb, *words = call.split
      arguments = words.map { |word| Word.parse(word) || 'nothing' }
      return @disk.perform(verb, arguments) if name == 'disk'

      if %w[open create].include?(verb)
        @handles[name] = Handle.new(@path, verb, arguments)
        return []
      end
      (@handles[name] or raise Failure, "there is no #{name}").perform(verb, arguments)
    rescue Hammerspace::Error => error
      "error #{error.class.name[/(\w+)Error\z/, 1].sub('IO', 'Io')}"
    end
  end
end

RSpec.describe 'Conformance' do
  Dir[File.join(Conformance::DIRECTORY, '*.toml')].each do |file|
    Tomlrb.load_file(file).fetch('case').each do |test_case|
      name, steps, fails = test_case.values_at('name', 'steps', 'fails')
      it "#{File.basename(file, '.toml')}: #{name}" do
        failed = Conformance::Run.new(path).failure_in(steps)
        expect(failed&.first).to eq(fails), failed&.last || "it passes; it is to fail at step #{fails}"
      end
    end
  end

  it 'has cases and canaries' do
    expect(Dir[File.join(Conformance::DIRECTORY, '*.toml')]).to include(/fork/, /canary/)
  end
end
