import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CODING_SYSTEMS, type Coding, type CodingScheme } from '../concepts/coding.ts';
import { CONCEPTS, type ConceptKey } from '../concepts/concepts.ts';
import type { Pipeline } from '../contract/job.ts';
import type { CartMeasurement, Study } from '../contract/study.ts';
import { readStudy } from '../input/read-study.ts';
import { assembleResult } from '../result/assemble.ts';
import { cartMeasurements, cartSource } from '../result/cart-values.ts';
import type { Measurement, Result } from '../result/envelope.ts';
import { measurementOf } from '../result/measured.ts';
import { jobFiles, readJob, stage } from '../run/study-pipeline.ts';
import { translateEndpoint } from './endpoint.ts';

const SECTION = { id: 'machine-report', title: 'Report of the ultrasound machine' } as const;

/**
 * Reads the structured reports of a study (TID 5000, 5200, 5300 and others) and returns their
 * values: one for each quantity of the concept table, as in an examination, and every value of
 * other quantities. No image is decoded and no model runs.
 */
export const pipeline: Pipeline = async (folder, report, signal) => {
  stage(report, 'preprocessing', 'Reading the report of the machine', 0);
  const job = await readJob(folder);
  const study = await readStudy(jobFiles(folder, job.files), {
    unpackTo: join(folder, 'unpacked'),
    unreadable: job.unreadable,
    signal,
  });
  const result = translated(study, new Date());
  if (!result) {
    const reasons = study.refused.map(({ file, reason }) => `${file}: ${reason}`);
    const detail = ['No report of the machine with values was found.', ...reasons].join(' ');
    return { type: 'rejected', code: 'no_machine_report', detail };
  }
  await writeFile(join(folder, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
  return { type: 'done' };
};

/** Returns the values from the machine's reports as a result; null if there are none. */
function translated(study: Study, generatedAt: Date): Result | null {
  const cart = study.cart ?? [];
  const measurements = [
    ...cartMeasurements(cart, SECTION.id, Object.keys(CONCEPTS) as ConceptKey[]),
    ...unlistedValues(cart),
  ];
  if (measurements.length === 0) return null;
  return assembleResult({
    endpoint: translateEndpoint.id,
    version: translateEndpoint.version,
    generatedAt,
    models: [],
    study,
    refusedFrames: [],
    priors: 0,
    sections: [
      { ...SECTION, outcome: { status: 'complete', reason: null, statements: [], findings: [] } },
    ],
    measurements,
  });
}

/** Returns true if results can identify the coding scheme by a FHIR system. */
const hasSystem = (scheme: string): scheme is CodingScheme => Object.hasOwn(CODING_SYSTEMS, scheme);

/**
 * Returns the quantities that our concept table lacks, with the machine's code and unit. A code
 * from a manufacturer's private scheme, which is not publicly known, is moved to our scheme, with
 * the name of the private scheme as part of the code.
 */
function unlistedValues(cart: readonly CartMeasurement[]): Measurement[] {
  const seen = new Map<string, number>();
  return cart
    .filter(({ key }) => key === null)
    .map((value) => {
      const { scheme, code, meaning } = value.concept;
      const key = `${scheme}-${code}`;
      const count = (seen.get(key) ?? 0) + 1;
      seen.set(key, count);
      const coding: Coding = hasSystem(scheme)
        ? { scheme, code, meaning }
        : { scheme: '99USINT', code: key, meaning };
      return measurementOf(
        count === 1 ? `cart-${key}` : `cart-${key}-${count}`,
        key,
        { codings: [coding], label: meaning, unit: value.unit, site: null },
        value.value,
        'cart-sr',
        {
          section: SECTION.id,
          derivation: derivationOf(value),
          source: cartSource(value),
          site: value.site?.meaning ?? null,
          laterality: value.laterality,
          fetus: value.fetus,
          phase: value.phase?.meaning ?? null,
        },
      );
    });
}

function derivationOf({ derivation }: CartMeasurement): Measurement['derivation'] {
  if (derivation === 'mean' || derivation === 'median') return derivation;
  return derivation === null || derivation === 'measured' || derivation === 'best'
    ? 'measured'
    : 'calculated';
}
