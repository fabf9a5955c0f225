# frozen_string_literal: true

module Hammerspace
  # What went wrong. Each subclass is a kind, and a kind is what to do about it:
  #
  #   CorruptError      restore, rebuild or replace the data
  #   UnsupportedError  use a newer build
  #   BusyError         try again later
  #   FullError         make room
  #   InvalidError      change the call
  #   PermissionError   change the rights or the user
  #   MissingError      create it, or correct the path
  #   OwnerDeadError    adopt the data, or restart the owner
  #   IOError           read the message
  #   ChangedError      read again, and make the change again
  #   InternalError     report a bug
  #
  # The message says all: +file+ and +offset+ (where there are such), +finding+ and +remedy+.
  class Error
    # The kind, as a symbol: +:corrupt+, +:owner_dead+, …
    def kind
      self.class.name[/(\w+)Error\z/, 1].gsub(/(?<=[a-z])(?=[A-Z])/, '_').downcase.to_sym
    end
  end
end
