# frozen_string_literal: true

module Hammerspace
  # Rack middleware: every request reads what was current when it began.
  #
  #   use Hammerspace::Refresh, TRANSLATIONS, FLAGS
  #
  # While nothing changes that costs an atomic load and a look at a clock for each hash. Should a new version be damaged, the
  # one before it stays, and rack.errors is told.
  class Refresh
    def initialize(app, *hashes)
      @app = app
      @hashes = hashes
    end

    def call(env)
      @hashes.each { |hash| refresh(hash, env) }
      @app.call(env)
    end

    private

    def refresh(hash, env)
      hash.refresh
    rescue Error => error
      env['rack.errors']&.puts("Hammerspace: #{error.message}")
    end
  end
end
