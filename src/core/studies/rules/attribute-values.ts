import dcmjs from 'dcmjs';
import type { Routing } from '../../../../config/routing.ts';
import { attributeText } from '../instance-header.ts';
import { readAttributes } from '../read-header.ts';
import { attributePaths } from './route.ts';

const { dictionary } = dcmjs.data.DicomMetaDictionary;

export function routingAttributePaths({ rules }: Routing): string[] {
  return [...new Set(rules.flatMap((rule) => attributePaths(rule.when)))];
}

/**
 * Reads the given attributes from the headers of a study's files, as a map from path to distinct
 * values. A step into a sequence reads all of its items.
 * @throws SonogateError `object_not_understood`, or the system error if a file cannot be read.
 */
export async function attributeValues(
  files: readonly string[],
  paths: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map(paths.map((path) => [path, new Set<string>()]));
  if (paths.length === 0) return new Map();
  for (const file of files) {
    const read = await readAttributes(file, paths);
    for (const [index, path] of paths.entries()) {
      for (const value of read[index] ?? []) found.get(path)?.add(value);
    }
  }
  return new Map([...found].map(([path, values]) => [path, [...values]]));
}

/**
 * Returns the keyword of a step in an attribute path. A private tag has no keyword, and dcmjs uses
 * its digits instead.
 */
function keywordOf(step: string): string {
  if (!step.startsWith('(')) return step;
  const tag = step.toUpperCase();
  return dictionary[tag]?.name ?? tag.replace(/[(),]/g, '');
}

/**
 * Returns the attributes that must be read in order to follow these paths; see `wantedAttributes`.
 */
export function attributesOf(paths: readonly string[]): string[] {
  return paths.flatMap((path) => path.split('.').map(keywordOf));
}

export function valuesAt(dataSet: unknown, path: string): string[] {
  return valuesBelow(dataSet, path.split('.').map(keywordOf));
}

function valuesBelow(dataSet: unknown, [step, ...rest]: readonly string[]): string[] {
  if (step === undefined || typeof dataSet !== 'object' || dataSet === null) return [];
  const value = (dataSet as Record<string, unknown>)[step];
  if (rest.length > 0) {
    const items = Array.isArray(value) ? value : [value];
    return items.flatMap((item) => valuesBelow(item, rest));
  }
  return attributeText(value)
    .split('\\')
    .filter((text) => text !== '');
}
