# frozen_string_literal: true

require_relative 'lib/hammerspace/version'
require_relative 'sources'

Sources.stage

Gem::Specification.new do |gem|
  gem.name = 'hammerspace'
  gem.version = Hammerspace::VERSION
  gem.summary = 'Hashes of strings off the heap, shared by all processes'
  gem.description = 'A hash in a directory: mapped by every process that reads it, replaced as a whole, as fast as a Hash.'
  gem.authors = ['The Hammerspace authors']
  gem.licenses = ['Apache-2.0', 'MIT']
  gem.required_ruby_version = '>= 3.1'
  gem.files = Dir.chdir(__dir__) do
    Dir['lib/**/*.rb', 'ext/**/*.{c,h,rb}', 'sig/*.rbs', 'README.md',
        'rust/Cargo.*', 'rust/{crates,bindings}/**/*.{rs,toml,h}']
  end
  gem.extensions = ['ext/hammerspace/extconf.rb']
end
