import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { simulateObstetricStudy } from '../../../models/phantom/study.ts';
import { buildTid1500 } from '../../../pipelines/artifacts/sr/tid1500.ts';
import { CONCEPTS, type ConceptKey, conceptEntry } from '../../../pipelines/concepts/concepts.ts';
import { type Measurement, type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
import { isShown } from '../../../pipelines/result/render/statement.ts';
import { withoutComparisons } from '../../../pipelines/result/standing.ts';
import { interpret } from '../../../src/app/cli/interpret.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { measurement } from './example-measurements.ts';
import { RESULT } from './example-result.ts';
import { ANONYMOUS } from './example-subject.ts';
import { asFile, hasPydicom, PYTHON, run } from './programs.ts';

/** Reads each measurement group with pydicom: the code, Numeric Value and unit of its first NUM. */
const script = `
import sys, json, pydicom
ds = pydicom.dcmread(sys.argv[1])
body = [c for c in ds.ContentSequence if c.ConceptNameCodeSequence[0].CodeValue == '126010']
groups = []
for group in (body[0].ContentSequence if body else []):
    num = next(c for c in group.ContentSequence
        if c.ValueType == 'NUM' and c.RelationshipType == 'CONTAINS')
    name = num.ConceptNameCodeSequence[0]
    measured = num.get('MeasuredValueSequence')
    groups.append([name.get('CodeValue') or name.LongCodeValue,
        float(measured[0].NumericValue) if measured else None,
        measured[0].MeasurementUnitsCodeSequence[0].CodeValue if measured else None])
print(json.dumps(groups))
`;

const groupsIn = (path: string): [string, number | null, string | null][] =>
  JSON.parse(run(PYTHON, ['-c', script, path]).output);

/** Returns the value as a receiver prints it, in the unit and with the decimals of the result. */
function printed(one: Measurement, read: number | null): string | null {
  const entry = conceptEntry(one.concept.key);
  const factor = entry?.unit === one.unit ? entry.exchange.factor : 1;
  return read === null ? null : (read / factor).toFixed(entry?.decimals ?? 1);
}

function expectSame(result: Result, groups: ReturnType<typeof groupsIn>): void {
  const said = withoutComparisons(result.measurements);
  expect(said.length).toBeGreaterThan(0);
  expect(groups.map(([, read], index) => said[index] && printed(said[index], read))).toEqual(
    said.map((one) => (isShown(one) ? printed(one, inSr(one)) : null)),
  );
  expect(groups.map(([code]) => code)).toEqual(
    said.map(({ concept }) => conceptEntry(concept.key)?.codings[0].code ?? concept.code),
  );
}

function inSr(one: Measurement): number {
  const entry = conceptEntry(one.concept.key);
  return one.value * (entry?.unit === one.unit ? entry.exchange.factor : 1);
}

describe.skipIf(!hasPydicom)('pydicom reads from TID 1500 the same values as in the JSON', () => {
  test('of an obstetric phantom study', async () => {
    const { files } = await simulateObstetricStudy({ seed: 5, gaDays: 210 });
    const folder = await temporaryFolder();
    await Promise.all(files.map(({ name, bytes }) => writeFile(join(folder, name), bytes)));
    const out = join(folder, 'out');
    expect(await interpret('us/obstetric', [folder], { gaDays: 210, out })).toBe(0);
    const text = await readFile(join(out, 'result.json'), 'utf8');
    expectSame(
      resultSchema.parse(JSON.parse(text)),
      groupsIn(join(out, 'artifacts/sr-tid1500.dcm')),
    );
  }, 120_000);

  test('of every concept of both endpoints', () => {
    const keys = Object.keys(CONCEPTS) as ConceptKey[];
    const result: Result = {
      ...RESULT,
      measurements: keys.map((key, index) =>
        measurement(`m-${index}`, key, (index + 1) * 1.234567891, { unit: CONCEPTS[key].unit }),
      ),
    };
    expectSame(result, groupsIn(asFile(buildTid1500(result, ANONYMOUS), 'dcm')));
  });
});
