import { describe, expect, it } from 'vitest';
import { qualityOf } from '../../../../pipelines/obstetric/planes/section.ts';
import { abdomen, femur, head, MM_PER_PIXEL } from '../evidence-sample.ts';

const of = (criteria: ReturnType<typeof qualityOf>, name: RegExp) =>
  criteria.find((one) => name.test(one.name))?.met;

/** Returns the long axis in mm of a 4 : 3 ellipse that covers this share of 800 x 600 pixels. */
function longAxisFor(share: number): number {
  const semi = Math.sqrt((share * 800 * 600) / (Math.PI * 0.75));
  return 2 * semi * MM_PER_PIXEL;
}

describe('the quality of a plane', () => {
  it.each([
    [0.299, false],
    [0.301, true],
  ])('a head that covers %s of the image fills enough of it: %s', (share, met) => {
    const long = longAxisFor(share);
    expect(of(qualityOf(head(long, 0.75 * long)), /fills/)).toBe(met);
  });

  it('is open if it depends on the structures inside a head or an abdomen', () => {
    expect(of(qualityOf(head(100, 80)), /thalami/)).toBeNull();
    expect(of(qualityOf(abdomen(90, 90)), /stomach/)).toBeNull();
  });

  it.each([
    [0.8, true],
    [0.79, null],
    [0.41, null],
    [0.4, false],
  ])('thalami and cavum of a head, recognized at %s, are in view: %s', (share, met) => {
    const structures = { thalami: share, csp: share, cerebellum: 0 };
    const criteria = qualityOf(head(100, 80, { structures }));
    expect(of(criteria, /thalami/)).toBe(met);
    expect(of(criteria, /cavum/)).toBe(met);
  });

  it.each([
    [0.8, false],
    [0.79, true],
  ])(
    'a cerebellum recognized at %s on a plane without one leaves "not visible" %s',
    (share, met) => {
      const structures = { thalami: 1, csp: 1, cerebellum: share };
      expect(of(qualityOf(head(100, 80, { structures })), /cerebellum/)).toBe(met);
    },
  );

  it('a visible cerebellum counts against a transcerebellar plane, however certain it is', () => {
    expect(of(qualityOf(head(100, 80)), /cerebellum/)).toBe(true);
    const plane = 'transcerebellar';
    expect(of(qualityOf(head(100, 80, { plane })), /cerebellum/)).toBe(false);
    const structures = { thalami: 1, csp: 1, cerebellum: 0.1 };
    expect(of(qualityOf(head(100, 80, { plane, structures })), /cerebellum/)).toBe(false);
  });

  it.each([
    [44.9, true],
    [45.1, false],
  ])('a femur at %s degrees is level enough: %s', (degrees, met) => {
    const reading = femur(50);
    if (reading.structure !== 'femur' || !reading.located) throw new Error('no femur');
    const angle = (degrees * Math.PI) / 180;
    const ends = [
      { x: 100, y: 100 },
      { x: 100 + 100 * Math.cos(angle), y: 100 + 100 * Math.sin(angle) },
    ] as const;
    const tilted = { ...reading, located: { ...reading.located, ends } };
    expect(of(qualityOf(tilted), /angle/)).toBe(met);
  });

  it('below the gate has no calipers and no visible ends', () => {
    const criteria = qualityOf(femur(50, { accepted: false }));
    expect([of(criteria, /calipers/), of(criteria, /both ends/)]).toEqual([false, false]);
  });
});
