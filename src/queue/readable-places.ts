import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../..', import.meta.url));

/** What a pipeline is made of; the data folder may lie beside these, and is not among them. */
const PARTS = ['config', 'dimse', 'fhir', 'models', 'pipelines', 'src', 'package.json'];

/** Where the libraries and drivers of an accelerator are looked for; nothing of a patient's. */
const SYSTEM = ['/usr', '/lib', '/lib64', '/opt', '/dev', '/sys', '/etc/ld.so.cache'];

/** Asked for whether or not it is there: what may not be looked at would be an error. */
const ASKED_FOR = ['/etc/vulkan/icd.d'];

/** Variables of a pipeline process that name further such places. */
const VARIABLES = ['LD_LIBRARY_PATH', 'VK_DRIVER_FILES', 'VK_ICD_FILENAMES'];

/**
 * What a pipeline process may read beside its work folder: the program, the packages, which may lie
 * in any folder above it, the folders of the pipelines, and libraries of the system.
 * @param modules URLs.
 */
export function readablePlaces(modules: readonly string[]): string[] {
  const packages: string[] = [];
  for (let folder = PROGRAM; ; folder = dirname(folder)) {
    packages.push(join(folder, 'node_modules'));
    if (folder === dirname(folder)) break;
  }
  const program = PARTS.map((part) => join(PROGRAM, part));
  const own = modules.map((module) => dirname(fileURLToPath(module)));
  const named = VARIABLES.flatMap((name) => (process.env[name] ?? '').split(':'));
  const system = [...SYSTEM, ...named.filter((place) => isAbsolute(place))];
  // Node takes a permission for a folder as one for all below it only when the folder exists.
  const places = [...program, ...packages, ...own, ...system].filter((place) => existsSync(place));
  return [...new Set([...places, ...ASKED_FOR])];
}
