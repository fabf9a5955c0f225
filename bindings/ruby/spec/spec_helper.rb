# frozen_string_literal: true

require 'hammerspace'
require 'timeout'
require 'tmpdir'

# A directory that no hash has been in yet, and what is done with it again and again.
module Scratch
  attr_reader :path

  def open(**options) = Hammerspace.new(path, options)

  # Publishes these pairs, and nothing else.
  def publish(pairs)
    hash = open
    hash.replace(pairs)
    hash.close
  end

  def directories = Dir.children(path).map { |name| File.join(path, name) }.select { |at| File.lstat(at).directory? }

  # Whether a program ends well, with glibc's allocator told to look: it ends one that wrote behind what it got.
  def survives?(*program, **streams)
    watched = { 'MALLOC_CHECK_' => '3', 'LD_PRELOAD' => 'libc_malloc_debug.so.0' }
    system(watched, RbConfig.ruby, *$LOAD_PATH.map { |at| "-I#{at}" }, *program, **streams) == true
  end

  # Runs a block in a child, and gives what it gave, or raises what it raised.
  def in_child
    reader, writer = IO.pipe
    child = fork do
      reader.close
      answer = begin
        [true, yield]
      rescue Exception => error # rubocop:disable Lint/RescueException
        [false, "#{error.class}: #{error.message}"]
      end
      writer.write(Marshal.dump(answer))
      writer.close
    end
    writer.close
    fine, answer = Marshal.load(reader.read)
    Process.wait(child)
    raise answer unless fine

    answer
  end
end

RSpec.configure do |config|
  config.include Scratch
  config.expect_with(:rspec) { |expectations| expectations.syntax = :expect }
  config.disable_monkey_patching!
  config.order = :random
  Kernel.srand(config.seed)
  config.around do |example|
    directory = Dir.mktmpdir
    @path = File.join(directory, 'space')
    Timeout.timeout(120) { example.run }
  ensure
    # By force: meanwhile the collector may free a hash that has something pending, which removes that.
    FileUtils.rm_rf(directory)
  end
end
