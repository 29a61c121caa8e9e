import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  biplaneVolume,
  type ChamberFrame,
  frameGeometry,
  leftVentricle,
} from '../../../../pipelines/echo/chambers/geometry.ts';
import { fractionalChange } from '../../../../pipelines/echo/formulas.ts';
import { labelOf } from '../../../../pipelines/echo/locate/chambers.ts';
import { outlineOf } from '../../../../pipelines/measure/outline.ts';

/**
 * Three CAMUS patients (Leclerc 2019) in two planes, with the expert's masks and the biplane
 * volumes from the data set. Their pixels are twice as wide as high.
 */
const PATIENTS = '../shared/data/camus-biplane';

/** Parses a text with lines of the form `Name = value` or `Name: value`. */
function fieldsOf(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).map((line) => line.split(/[=:]/).map((part) => part.trim()));
  return Object.fromEntries(lines.map(([name = '', value = '']) => [name, value]));
}

/** Returns the left ventricle in one phase of one view, in millimetres, from the expert's mask. */
async function expertVentricle(patient: string, view: string, phase: string) {
  const stem = join(PATIENTS, patient, `${patient}_${view}_${phase}_gt`);
  const header = fieldsOf(await readFile(`${stem}.mhd`, 'utf8'));
  const numbers = (name: string) => (header[name] ?? '').split(/\s+/).map(Number);
  const [width = 0] = numbers('DimSize');
  const [x = 0, y = 0] = numbers('ElementSpacing');
  const labels = new Uint8Array(await readFile(`${stem}.raw`));
  const outlines: ChamberFrame['outlines'] = {};
  for (const chamber of ['lv', 'myocardium', 'la'] as const) {
    const own = labels.map((label) => (label === labelOf(chamber) ? 1 : 0));
    const outline = outlineOf(own, width);
    if (outline) outlines[chamber] = outline;
  }
  const confidence = { lv: 1, myocardium: 1, la: 1, rv: 0, ra: 0 };
  const frame = {
    frame: 0,
    time: 0,
    outlines,
    confidence,
    pose: null,
    faults: [],
    chamberFaults: {},
  };
  const figure = frameGeometry(frame, { x, y });
  return figure && leftVentricle(figure);
}

describe.skipIf(!existsSync(PATIENTS))('the biplane volumes of the masks of an expert', () => {
  it.each(['patient0001', 'patient0003', 'patient0005'])('are those of %s', async (patient) => {
    const info = fieldsOf(await readFile(join(PATIENTS, patient, 'Info_4CH.cfg'), 'utf8'));
    const of = async (phase: string) =>
      biplaneVolume(
        await expertVentricle(patient, '4CH', phase),
        await expertVentricle(patient, '2CH', phase),
      );
    const [edv, esv] = [await of('ED'), await of('ES')];
    if (edv === null || esv === null) throw new Error('no ventricle was found');
    expect(Math.abs(edv - Number(info.LVedv))).toBeLessThanOrEqual(3);
    expect(Math.abs(esv - Number(info.LVesv))).toBeLessThanOrEqual(3);
    expect(Math.abs(fractionalChange(edv, esv) - Number(info.LVef))).toBeLessThanOrEqual(1);
  });
});
