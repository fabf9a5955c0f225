# frozen_string_literal: true

# Builds hammerspace.so: the C files here over libhammerspace.a, which cargo makes. Needs ruby-dev, a C compiler and cargo.
#
# HAMMERSPACE_PROFILE=dev builds the Rust part as the repository's tests do, quickly and with its own assertions.

require 'mkmf'

abort 'Hammerspace is built by cargo: install Rust first (https://rustup.rs)' unless find_executable('cargo')

# In the repository this is a part of their workspace; in the gem the sources lie in rust/.
SOURCES = %w[../../../.. ../../rust].map { |path| File.expand_path(path, __dir__) }
                                    .find { |path| File.exist?(File.join(path, 'bindings/c/Cargo.toml')) }
PROFILE = ENV.fetch('HAMMERSPACE_PROFILE', 'release')
TARGET = File.expand_path(ENV.fetch('CARGO_TARGET_DIR') { File.join(SOURCES, 'target') }, SOURCES)
ARCHIVE = File.join(TARGET, PROFILE == 'dev' ? 'debug' : PROFILE, 'libhammerspace.a')

$INCFLAGS << " #{"-I#{File.join(SOURCES, 'bindings/c/include')}".quote}"
$CFLAGS << ' -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror=implicit-function-declaration'
# What is inside stays inside: another extension may have Rust in it too. What a gem installs needs no words for a debugger.
$LDFLAGS << ' -Wl,--exclude-libs,ALL'
$LDFLAGS << ' -Wl,--strip-debug' unless PROFILE == 'dev'
$LOCAL_LIBS << " #{ARCHIVE.quote} -lgcc_s -lpthread -lm -ldl"

# An installed gem keeps the extension, and not what cargo left behind.
FORGET = File.basename(SOURCES) == 'rust' && !ENV.key?('CARGO_TARGET_DIR')

create_makefile('hammerspace/hammerspace') do |rules|
  cargo = "cd #{SOURCES.quote} && cargo build --quiet --package hammerspace-c --profile #{PROFILE} --target-dir #{TARGET.quote}"
  archive = ARCHIVE.unspace
  rules << "all:\n$(OBJS): $(HDRS)\n$(DLLIB): #{archive}\n#{archive}: cargo-knows\n\t#{cargo}\n.PHONY: cargo-knows\n"
  rules << "install: forget\nforget: install-so install-rb\n\t-$(RM_RF) #{TARGET.quote}\n" if FORGET
  rules
end
