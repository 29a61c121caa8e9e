import { describe, expect, it } from 'vitest';
import { heartOutlines } from '../../../../pipelines/echo/evidence.ts';
import { chamberAreasOf } from '../../../../pipelines/echo/segment-chambers/section.ts';
import { interpreted } from '../interpret-sample.ts';
import { beatingClip, HEALTHY } from '../ventricle-sample.ts';

const square = (side: number) => [
  { x: 0, y: 0 },
  { x: side, y: 0 },
  { x: side, y: side },
  { x: 0, y: side },
];

it('names the outlined structures as a sonographer does', () => {
  const clips = [beatingClip('A4C', HEALTHY)];
  const heart = heartOutlines({ clips, volumesTrusted: false });
  const { summary } = interpreted({}, 'model', {}, { heart });
  expect(summary('segment-chambers')).toContain('A4C: LV, myocardium, LA outlined; ');
});

describe('the area curve of a clip', () => {
  it('has the area of each outlined chamber of a frame, and of the epicardium', () => {
    const outlines = { lv: square(40), myocardium: square(20), la: square(30) };
    expect(chamberAreasOf(outlines, { x: 0.5, y: 1 })).toEqual({
      lv: 8,
      myocardium: 2,
      la: 4.5,
      epicardium: 10,
    });
  });

  it('is absent without a scale, and has no epicardium without muscle', () => {
    expect(chamberAreasOf({ lv: square(40) }, null)).toBeNull();
    expect(chamberAreasOf({ lv: square(40) }, { x: 1, y: 1 })).toEqual({ lv: 16 });
  });
});
