# frozen_string_literal: true

require 'hammerspace/hash_methods'

module Hammerspace
  # What a Hammerspace::Hash stands on. There is one, Sparkey; others may be given as the option +:backend+: subclasses of
  # Base with +[]+, +[]=+, +delete+, +each+, +close+ and +uid+, which may override anything else.
  module Backend
    # What backends have in common: a directory, and whether its file system is fit for it.
    class Base
      include Enumerable
      include HashMethods

      attr_reader :frontend, :path, :options

      def initialize(frontend, path, options = {})
        @frontend = frontend
        @path = path
        @options = options
        check_fs unless options[:create] == false || File.exist?(lock_path)
      end

      # Warns where the file system does not do what this needs.
      def check_fs
        ensure_path_exists(path)
        warn_of('locks do not keep others out: concurrent writers may lose data') unless flock_works?
        warn_of('directories in use cannot be removed: old versions may stay') unless dir_cleanup_works?
      end

      # Whether a lock that one open file holds keeps another from getting it.
      def flock_works?
        trial do |directory|
          file = File.join(directory, 'lock')
          File.open(file, 'w') do |holder|
            holder.flock(File::LOCK_EX)
            File.open(file) { |other| other.flock(File::LOCK_EX | File::LOCK_NB) == false }
          end
        end
      end

      # Whether a directory can be removed while one of its files is open.
      def dir_cleanup_works?
        trial do |directory|
          inner = File.join(directory, 'version')
          Dir.mkdir(inner)
          File.open(File.join(inner, 'file'), 'w') do
            FileUtils.rm_rf(inner, secure: true)
            !File.exist?(inner)
          end
        end
      end

      def close
        raise NotImplementedError, "#{self.class} has no close"
      end

      def uid
        raise NotImplementedError, "#{self.class} has no uid"
      end

      # Makes what is pending current, which closing does; the number of the version, where versions have one.
      def publish = close

      # Moves on to what is current; whether it is another version.
      def refresh
        before = uid
        close
        before != uid
      end

      protected

      def ensure_path_exists(path)
        FileUtils.mkdir_p(path)
      end

      def lock_for_write(&block)
        locked(File::LOCK_EX, &block)
      end

      def lock_for_read(&block)
        locked(File::LOCK_SH, &block)
      end

      private

      def locked(how)
        ensure_path_exists(path)
        File.open(lock_path, File::RDONLY | File::CREAT) do |file|
          file.flock(how)
          yield
        end
      end

      def lock_path = File.join(path, 'hammerspace.lock')

      # What the block finds out in a directory of its own. Where it gets none nothing is known, and nothing wrong.
      def trial
        # Dir.mktmpdir is not for Ractors.
        directory = File.join(path, "trial.#{Random.urandom(8).unpack1('H*')}")
        begin
          Dir.mkdir(directory, 0o700)
        rescue SystemCallError
          return true
        end
        yield directory
      rescue SystemCallError
        false
      ensure
        FileUtils.rm_rf(directory)
      end

      def warn_of(finding)
        warn "\e[31m#{self.class}: #{path}: #{finding}. Use a local file system.\e[0m"
      end
    end
  end
end
