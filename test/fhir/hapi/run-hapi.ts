import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BRIEF_JVM } from '../../peers/jvm.ts';

/**
 * HAPI's FHIR library for Java, which needs JDK 17 or later and 69 jars (111 MB). `.ci/run`
 * downloads them if Java and Maven are installed.
 */
const JARS =
  process.env.SONOGATE_HAPI ?? fileURLToPath(new URL('../../../.ci/hapi', import.meta.url));

export const HAPI_INSTALLED = existsSync(JARS) && spawnSync('javac', ['-version']).status === 0;

/**
 * Runs a program in this folder and returns its output.
 * @throws if it ends with an error.
 */
export async function runHapi(
  program: 'FhirValidate' | 'FhirClient',
  ...given: readonly string[]
): Promise<string> {
  const source = fileURLToPath(new URL(`${program}.java`, import.meta.url));
  const options = [...BRIEF_JVM, '-cp', join(JARS, '*'), source, ...given];
  const { stdout } = await promisify(execFile)('java', options, { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}
