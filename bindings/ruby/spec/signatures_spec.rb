# frozen_string_literal: true

require 'i18n/backend/hammerspace'
require 'rbs'

# The signatures are well-formed, and of what there is: no method without one, none for a method that is gone.
RSpec.describe 'Signatures' do
  let(:builder) do
    loader = RBS::EnvironmentLoader.new
    loader.add(library: 'pathname', version: nil)
    loader.add(path: Pathname(File.expand_path('../sig', __dir__)))
    RBS::DefinitionBuilder.new(env: RBS::Environment.from_loader(loader).resolve_type_names)
  end

  def signed(name)
    methods = builder.build_instance(TypeName("::#{name}")).methods
    methods.select { |_, one| one.defined_in.to_s.match?(/\A::(I18n::Backend::)?Hammerspace/) && !one.private? }.keys
  end

  def public_methods_of(type)
    own = [type, *type.ancestors.select { |one| one.name.to_s.match?(/\A(I18n::Backend::)?Hammerspace/) }]
    own.flat_map { |one| one.public_instance_methods(false) }.uniq - %i[freeze initialize_copy]
  end

  [Hammerspace::Hash, Hammerspace::Backend::Base, Hammerspace::Backend::Sparkey, Hammerspace::Refresh,
   Hammerspace::Error, I18n::Backend::Hammerspace].each do |type|
    it "are complete for #{type}" do
      expect(signed(type.name).sort).to eq(public_methods_of(type).sort)
    end
  end

  it 'name all errors' do
    expect(Hammerspace::Error.subclasses.map { |type| builder.build_instance(TypeName("::#{type.name}")) }.size).to eq(11)
  end
end
