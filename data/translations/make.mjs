// Makes the files beside this one from an npm package of Unicode CLDR. Run it here: node make.mjs
import { execSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PACKAGE = "cldr-localenames-full@48.2.0";
const LOCALES =
  "af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko " +
  "lo lt lv mk ml mn mr ms my nb ne nl pa pl pt pt-PT ro ru si sk sl sq sr sv sw ta te th tr uk ur uz vi zh zh-Hant zu";
const SECTIONS = ["languages", "territories", "scripts", "variants", "keys", "types"];

// Without the names that are only the code again: nobody has translated those yet.
const translated = (names) =>
  Object.fromEntries(
    Object.entries(names)
      .map(([code, name]) => [code, typeof name === "object" ? translated(name) : name])
      .filter(([code, name]) => name !== code && Object.keys(name).length > 0),
  );

const directory = mkdtempSync(join(tmpdir(), "cldr-"));
execSync(`npm pack --silent ${PACKAGE} && tar -xzf *.tgz`, { cwd: directory });
for (const locale of LOCALES.split(" ")) {
  const folder = join(directory, "package", "main", locale);
  const names = {};
  for (const file of readdirSync(folder)) {
    Object.assign(names, JSON.parse(readFileSync(join(folder, file))).main[locale].localeDisplayNames);
  }
  const kept = Object.fromEntries(SECTIONS.filter((section) => names[section]).map((section) => [section, names[section]]));
  writeFileSync(`${locale}.json`, JSON.stringify(translated(kept), null, 1) + "\n");
}
copyFileSync(join(directory, "package", "LICENSE"), "LICENSE");
rmSync(directory, { recursive: true });
