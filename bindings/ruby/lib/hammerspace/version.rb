# frozen_string_literal: true

module Hammerspace
  VERSION = '0.1.0'
end
