import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { PRINTED_SCREENS, printedCases } from '../../../../models/evaluation/printed-screens.ts';
import type { EchoConcept } from '../../../../pipelines/concepts/echo.ts';
import { tracedMeasurements } from '../../../../pipelines/echo/displays/measure.ts';
import { readDisplays } from '../../../../pipelines/echo/displays/read.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';

const FOLDER = '../shared/data/dicom/doppler';
const present = existsSync(FOLDER);
if (!present) console.warn(`${FOLDER} is absent: no real display is read`);

/**
 * Values that the machine printed next to its display, in the unit of the concept, each followed by
 * the value of one pixel.
 */
const PRINTED = [
  ['tte47_18_doppler-av.dcm', 'lvot-vmax', 0.888, 0.0049383],
  ['tte47_21_doppler-tissue-lateral.dcm', 'e-prime-unnamed', 11.6, 0.1087],
  ['tte47_21_doppler-tissue-lateral.dcm', 's-prime-unnamed', 11.4, 0.1087],
  ['tte47_40_mmode-a4ch-rv.dcm', 'annular-excursion-unnamed', 19.6, 0.4348],
] as const satisfies readonly (readonly [string, EchoConcept, number, number])[];

const seen = new Map<string, ReturnType<typeof readDisplay>>();

function read(name: string) {
  const known = seen.get(name) ?? readDisplay(name);
  seen.set(name, known);
  return known;
}

async function readDisplay(name: string) {
  const signal = new AbortController().signal;
  const file = { name, path: `${FOLDER}/${name}` };
  const study = await readStudy([file], { unpackTo: tmpdir(), signal });
  return tracedMeasurements(await readDisplays(study, signal), () => 'valves');
}

describe.skipIf(!present)('of a real display, without reading its text', () => {
  it.each(PRINTED)('%s: %s is within 5 % or 2 pixels of the printed %s', async (...given) => {
    const [file, key, printed, pixel] = given;
    const found = (await read(file)).find(({ concept }) => concept.key === key);
    const off = Math.abs((found?.value ?? Number.NaN) - printed);
    expect(off).toBeLessThanOrEqual(Math.max(0.05 * printed, 2 * pixel));
  });

  it('a value is not used if the header does not identify its structure', async () => {
    for (const [file] of PRINTED) {
      for (const { quality } of await read(file)) expect(quality).toBe('low');
    }
  });

  it('a value has calipers on the display', async () => {
    const values = await read('tte47_18_doppler-av.dcm');
    const [caliper] = values[0]?.source.calipers ?? [];
    // The caliper goes from the baseline at row 464 down to the peak of an ejection directed away
    // from the probe.
    expect(caliper?.points[0]?.[1]).toBe(464);
    expect(caliper?.points[1]?.[1]).toBeGreaterThan(620);
  });
});

const ALL = '../shared/data/dicom';
const unseen = existsSync(`${ALL}/doppler-unseen`);
if (!unseen) console.warn(`${ALL}/doppler-unseen is absent: its screens are not read`);

describe.skipIf(!unseen)('of a real display whose structure the header identifies', () => {
  it.each(PRINTED_SCREENS)('$file: no accepted value is off by more than 5 %', async (screen) => {
    const cases = await printedCases(ALL, screen);
    const used = cases.filter(({ quality }) => quality === 'accepted');
    for (const { key, printed, value } of used) {
      if (printed === null) continue;
      expect(Math.abs((value ?? Number.NaN) / printed - 1), key).toBeLessThanOrEqual(0.05);
    }
  });

  it('on a line through the aortic root, no ventricular dimension is accepted', async () => {
    const root = PRINTED_SCREENS.find(({ printed }) => Object.keys(printed).length === 0);
    expect(root && (await printedCases(ALL, root))).toEqual([]);
  });

  it('measures the higher A, the faint jet and the vein', async () => {
    const cases = (await Promise.all(PRINTED_SCREENS.map((one) => printedCases(ALL, one)))).flat();
    for (const key of ['mitral-a', 'tr-vmax', 'ivc-diameter'] as const) {
      const found = cases.find((one) => one.key === key);
      const off = Math.abs((found?.value ?? Number.NaN) / (found?.printed ?? Number.NaN) - 1);
      expect(off, key).toBeLessThanOrEqual(0.05);
    }
  });
});
