# frozen_string_literal: true

# The tests that ship with I18n for whoever writes a backend: all of them, over ours. A program of its own, since they are
# written for Minitest and Mocha.

require 'minitest/autorun'
require 'mocha/minitest'
require 'tmpdir'
require 'i18n/backend/hammerspace'

# What these tests take from I18n's own helper.
class BackendTest < Minitest::Test
  def self.test(name, &block)
    define_method("test_#{name.gsub(/\W+/, '_')}", &block)
  end

  def setup
    super
    @directory = Dir.mktmpdir
    I18n.enforce_available_locales = false
    I18n.available_locales = nil
    I18n.locale = I18n.default_locale = :en
    I18n.load_path = []
    I18n.backend = I18n::Backend::Hammerspace.new(File.join(@directory, 'translations'), durability: :none)
  end

  def teardown
    super
    I18n.available_locales = nil
    I18n.backend = nil
    FileUtils.rm_rf(@directory)
  end

  def store_translations(locale, data, options = {})
    I18n.backend.store_translations(locale, data, options)
  end

  def translations = I18n.backend.hash
  def can_store_procs? = true
  def assert_nothing_raised(*) = yield
end

# Their modules say `test 'name' do`, before they are included anywhere.
class Module
  def test(name, &block)
    define_method("test_#{name.gsub(/\W+/, '_')}", &block)
  end
end

# Those of localization build on each other, and come together.
I18n::Tests.constants.each do |name|
  BackendTest.const_set("#{name}Test", Class.new(BackendTest) { include I18n::Tests.const_get(name) })
end
