# frozen_string_literal: true

require 'fileutils'

# The Rust that the gem is built from: a part of the repository's workspace, laid out in rust/ as it lies there, without
# tests.
module Sources
  HERE = __dir__
  ROOT = File.expand_path('../..', HERE)
  STAGED = File.join(HERE, 'rust')
  CRATES = %w[error bytes os zstd sketch sparkey disklog tables space memory store hammerspace plural]
           .map { |name| "crates/#{name}" }.push('bindings/c').freeze

  # Lays them out anew, where there is a repository to take them from.
  def self.stage
    return unless File.exist?(File.join(ROOT, 'Cargo.lock'))

    FileUtils.rm_rf(CRATES.map { |crate| File.join(STAGED, crate) })
    CRATES.each { |crate| stage_crate(crate) }
    FileUtils.cp(File.join(ROOT, 'Cargo.lock'), STAGED)
    members = CRATES.map { |crate| %("#{crate}") }.join(', ')
    write('Cargo.toml') do |text|
      text.sub(/^members = .*$/, "members = [#{members}]").gsub(/^(#.*\n)?(exclude|default-members) = .*\n/, '')
    end
  end

  def self.stage_crate(crate)
    %w[src include build.rs].each do |name|
      from = File.join(ROOT, crate, name)
      next unless File.exist?(from)

      FileUtils.mkdir_p(File.join(STAGED, crate))
      FileUtils.cp_r(from, File.join(STAGED, crate))
    end
    # What only tests need is not here to be found.
    write("#{crate}/Cargo.toml") { |text| text.gsub(/^\[(?:dev-dependencies|\[test\]|\[bench\])\].*?(?=^\[|\z)/m, '') }
  end

  def self.write(path)
    File.write(File.join(STAGED, path), yield(File.read(File.join(ROOT, path))))
  end
  private_class_method :stage_crate, :write
end
