import { existsSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { biplaneViews, camusCases, realStills } from '../../../../models/evaluation/echo-cases.ts';
import { openHeartLocator } from '../../../../pipelines/echo/locate/heart-locator.ts';
import { familyOf } from '../../../../pipelines/echo/locate/names.ts';
import { longAxisLines } from '../../../../pipelines/echo/locate/parasternal.ts';
import { sectorOf } from '../../../../pipelines/echo/locate/sector.ts';
import { imageOf, phantomClip } from './phantom-clip.ts';

const DATA = '../shared/data';
const settings = { provider: 'cpu', threads: 1 } as const;
const all = await openHeartLocator({ ...settings, allow: 'all' });
const permissive = await openHeartLocator({ ...settings, allow: 'permissive' });
afterAll(async () => {
  await all.close();
  await permissive.close();
});

describe('the models that a setting permits', () => {
  test('all: the research pack if there is one, with its LVEF', () => {
    expect(all.models.map(({ id }) => id)).toEqual([
      'echo-view-research',
      'echo-chambers-research',
      'echo-parasternal',
      'echo-ejection-fraction-research',
      'echo-chambers',
    ]);
  });

  test('permissive: nothing that was trained on non-commercial data, and no LVEF', () => {
    expect(permissive.models.every(({ pack }) => pack === 'permissive')).toBe(true);
    expect(permissive.ejectionFraction).toBeNull();
    expect(permissive.segment).not.toBeNull();
  });
});

describe('views of phantoms in a good window', () => {
  test('the view of most clips is identified, and rarely wrongly', async () => {
    const views = [
      'PLAX',
      'PSAX-PM',
      'A4C',
      'A2C',
      'A3C',
      'SUBCOSTAL-4C',
      'SUBCOSTAL-IVC',
    ] as const;
    let right = 0;
    let wrong = 0;
    for (const view of views) {
      for (const seed of [31, 32]) {
        const frames = phantomClip(view, seed, 3).map(imageOf);
        const found = await permissive.nameView?.(frames, sectorOf(frames));
        if (found?.view === view) right += 1;
        else if (found?.view !== 'other') wrong += 1;
      }
    }
    expect(right).toBeGreaterThanOrEqual(10);
    expect(wrong).toBeLessThanOrEqual(2);
  });
});

describe.skipIf(!existsSync(`${DATA}/camus-a4c`))('views of real patients (CAMUS)', () => {
  test('the four-chamber view is identified by the pack that was trained on it', async () => {
    const cases = (await camusCases(DATA, 'validation')).slice(0, 10);
    const named = await Promise.all(
      cases.map(async ({ ed, es }) => {
        const frames = [ed.image, es.image];
        return (await all.nameView?.(frames, sectorOf(frames)))?.view;
      }),
    );
    expect(named.filter((view) => view === 'A4C').length).toBeGreaterThanOrEqual(9);
  });
});

describe.skipIf(!existsSync(`${DATA}/echo-views`))('views of real stills and of real A2C', () => {
  test.each([
    ['research', all],
    ['permissive', permissive],
  ])('%s: hardly any view is wrong', async (_, locator) => {
    const cases = [...(await realStills(DATA)), ...(await biplaneViews(DATA))];
    let right = 0;
    const wrong: string[] = [];
    for (const { view, frames } of cases) {
      const found = await locator.nameView?.(frames, sectorOf(frames));
      if (!found || found.view === 'other') continue;
      if (familyOf(found.view) === view) right += 1;
      else wrong.push(`${view} as ${found.view}`);
    }
    expect(right).toBeGreaterThanOrEqual(8);
    expect(wrong.length).toBeLessThanOrEqual(1);
  });
});

describe('the parasternal long axis of phantoms in a good window', () => {
  test('septum, cavity and posterior wall are near the phantom sizes', async () => {
    const errors: number[] = [];
    for (const seed of [41, 42, 43, 44, 45, 46]) {
      const [frame] = phantomClip('PLAX', seed);
      if (!frame) throw new Error('one frame was asked for');
      const image = imageOf(frame);
      const [masks] = (await permissive.parasternal?.([image], sectorOf([image]))) ?? [];
      const lines = masks ? longAxisLines(masks) : {};
      const { mmPerPixel = 1, values = {} } = frame.truth;
      for (const [line, size] of [
        [lines.septum, values.ivsMm],
        [lines.cavity, values.lvidMm],
        [lines['posterior-wall'], values.lvpwMm],
      ] as const) {
        const length = line && Math.hypot(line[1].x - line[0].x, line[1].y - line[0].y);
        errors.push(Math.abs((length ?? 0) * mmPerPixel - (size ?? 0)));
      }
    }
    const sorted = errors.toSorted((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(2);
  });
});
