# frozen_string_literal: true

require 'fileutils'
require 'set'
require 'hammerspace/version'
require 'hammerspace/backend'
require 'hammerspace/hammerspace'
require 'hammerspace/error'
require 'hammerspace/hash'
require 'hammerspace/refresh'

# Hashes of strings that live off the heap: in a directory, mapped by every process that reads them, replaced as a whole.
module Hammerspace
  # Opens the hash in a directory. See Hammerspace::Hash.
  def self.new(path, options = {}, *default, &default_proc)
    Hash.new(path, options, *default, &default_proc)
  end
end
