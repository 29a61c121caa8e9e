import { describe, expect, it } from 'vitest';
import {
  agreementTable,
  errorsOf,
  inventedFluid,
  type StudyCase,
  studyAgreement,
} from '../../../models/evaluation/echo-study-agreement.ts';

type Said = StudyCase['said'][number];

const said = (key: Said['key'], value: number, quality = 'accepted'): Said => ({
  key,
  value,
  quality,
  note: quality === 'accepted' ? null : 'the outlines jump',
});

const CASES: readonly StudyCase[] = [
  { seed: 1, truth: { tapse: 20 }, said: [said('tapse', 22)], walls: [] },
  { seed: 2, truth: { tapse: 20 }, said: [said('tapse', 19)], walls: [] },
  { seed: 3, truth: { tapse: 20 }, said: [said('tapse', 90, 'low')], walls: [] },
  { seed: 4, truth: { 'effusion-depth': 8 }, said: [said('effusion-depth', 9)], walls: [] },
];

describe("the product's results on simulated studies", () => {
  const [tapse, effusion] = studyAgreement(CASES);

  it('are compared with the phantom: 2 mm too much and 1 mm too little', () => {
    expect(tapse).toMatchObject({ meanAbsoluteError: 1.5, bias: 0.5, centile95: 2, largest: 2 });
  });
  it('count as withheld if they were not accepted, and their value is not an error', () => {
    expect(tapse).toMatchObject({ studies: 3, withheld: 1 });
    expect(errorsOf(CASES, 'tapse').at(-1)).toMatchObject({
      error: null,
      reason: 'the outlines jump',
    });
  });
  it('are evaluated only for studies that have the quantity', () => {
    expect(effusion).toMatchObject({ key: 'effusion-depth', studies: 1, withheld: 0 });
  });
  it('are printed in a table with their unit', () => {
    expect(agreementTable([tapse, effusion].flatMap((row) => row ?? []))).toContain(
      '| TAPSE (mm) | 3 | 1 | 1.5 | 0.5 | 2 | 2 |',
    );
  });
});

describe('fluid that does not exist', () => {
  it('is invented if a depth is reported, but not if one was withheld', () => {
    const given = { seed: 5, truth: {}, said: [said('effusion-depth', 6)], walls: [] };
    const withheld = { seed: 6, truth: {}, said: [said('effusion-depth', 6, 'low')], walls: [] };
    expect(inventedFluid([...CASES, given, withheld])).toEqual({ without: 5, invented: 1 });
  });
});
