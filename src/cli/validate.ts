import { readFile } from 'node:fs/promises';
import { data } from 'dcmjs';
import { checkSegmentation } from '../../pipelines/artifacts/seg/check.ts';
import { SEGMENTATION_CLASSES } from '../../pipelines/artifacts/seg/segmentation.ts';
import { decode } from '../../pipelines/artifacts/sr/decode.ts';
import { checkTemplate } from '../../pipelines/artifacts/sr/template-check.ts';
import { checkBundle } from './check-bundle.ts';

/** PS3.10 7.1. */
const PREFIX = { offset: 128, text: 'DICM' } as const;

function checkDicom(bytes: Buffer): { kind: string; faults: string[] } {
  const file = data.DicomMessage.readFile(new Uint8Array(bytes).buffer);
  const dataset = data.DicomMetaDictionary.naturalizeDataset(file.dict);
  const segmentations: readonly unknown[] = Object.values(SEGMENTATION_CLASSES);
  if (segmentations.includes(dataset.SOPClassUID)) {
    return { kind: 'Segmentation', faults: checkSegmentation(dataset) };
  }
  if (dataset.ValueType !== 'CONTAINER') {
    return { kind: 'DICOM', faults: ['it is neither a structured report nor a segmentation'] };
  }
  const faults = checkTemplate(decode(bytes)).map(({ path, rule }) => `${path}: ${rule}`);
  return { kind: 'structured report', faults };
}

/**
 * Checks one file by its content: structured report, segmentation or FHIR Bundle.
 * @returns what it was taken for and every fault found.
 */
export function checkContent(bytes: Buffer): { kind: string; faults: string[] } {
  const { offset, text } = PREFIX;
  try {
    if (bytes.toString('latin1', offset, offset + text.length) === text) return checkDicom(bytes);
    return { kind: 'FHIR Bundle', faults: checkBundle(JSON.parse(bytes.toString('utf8'))) };
  } catch (error) {
    return { kind: 'file', faults: [`it cannot be read: ${(error as Error).message}`] };
  }
}

/** `npx sonogate validate`: each file with its faults. @returns the exit status, 1 with any fault. */
export async function validate(paths: readonly string[]): Promise<number> {
  let faulty = 0;
  for (const path of paths) {
    const { kind, faults } = checkContent(await readFile(path));
    process.stdout.write(`${path}: ${kind}, ${faults.length === 0 ? 'no fault' : 'faults:'}\n`);
    for (const fault of faults) process.stdout.write(`  ${fault}\n`);
    if (faults.length > 0) faulty += 1;
  }
  return faulty === 0 ? 0 : 1;
}
