import { existsSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { camusCases } from '../../../../models/evaluation/echo-cases.ts';
import { chamberAgreement, LEFT_HEART } from '../../../../models/evaluation/echo-chambers.ts';
import { ECHO_VIEWS } from '../../../../models/phantom/echo/views.ts';
import { createHeart } from '../../../../models/phantom/heart/heart.ts';
import { drawHeart } from '../../../../models/phantom/heart/sizes.ts';
import { createRandom } from '../../../../models/phantom/random.ts';
import type { GrayImage } from '../../../../pipelines/contract/image.ts';
import { areaOf, labelOf, segmentChambers } from '../../../../pipelines/echo/locate/chambers.ts';
import { CHAMBERS } from '../../../../pipelines/echo/locate/names.ts';
import { mirroredImage, sectorOf } from '../../../../pipelines/echo/locate/sector.ts';
import { shapeFaults } from '../../../../pipelines/echo/locate/ventricle-pose.ts';
import {
  modelFor,
  type PackSetting,
  readRegistry,
} from '../../../../pipelines/inference/model-registry.ts';
import { openSession } from '../../../../pipelines/inference/session.ts';

const DATA = '../shared/data';
const registry = await readRegistry();

async function chambersOf(allow: PackSetting) {
  const model = modelFor(registry, 'echo-chambers', allow);
  if (!model) throw new Error('the registry has a model of the chambers');
  return openSession(model, { provider: 'cpu', threads: 1 });
}

const permissive = await chambersOf('permissive');
const research = await chambersOf('all');
afterAll(async () => {
  await permissive.close();
  await research.close();
});

/** Returns an apical four-chamber frame of a phantom in a good window, together with its masks. */
function apical(seed: number) {
  const heart = createHeart(drawHeart(createRandom(seed), {}));
  const [frame] = ECHO_VIEWS.A4C.simulate({ heart, seed, frames: 1 });
  if (!frame) throw new Error('one frame was asked for');
  const image: GrayImage = { width: frame.columns, height: frame.rows, data: frame.gray };
  return { image, masks: frame.truth.masks ?? {} };
}

const OF_TRUTH = {
  lv: 'leftVentricle',
  myocardium: 'myocardium',
  la: 'leftAtrium',
  rv: 'rightVentricle',
  ra: 'rightAtrium',
} as const;

describe('chambers of a phantom', () => {
  test('all five are in the right place', async () => {
    const overlaps: number[] = [];
    for (const seed of [11, 12, 13]) {
      const { image, masks } = apical(seed);
      const [found] = await segmentChambers(permissive, [image], sectorOf([image]));
      if (!found) throw new Error('one frame has one answer');
      for (const chamber of CHAMBERS) {
        const truth = masks[OF_TRUTH[chamber]] ?? new Uint8Array();
        let both = 0;
        found.labels.forEach((label, pixel) => {
          const x = found.area.minX + (pixel % found.width);
          const y = found.area.minY + Math.floor(pixel / found.width);
          if (label === labelOf(chamber) && truth[y * image.width + x]) both += 1;
        });
        const total = truth.reduce((sum, one) => sum + one, 0) + areaOf(found, chamber);
        overlaps.push((2 * both) / total);
      }
    }
    expect(overlaps.reduce((sum, one) => sum + one, 0) / overlaps.length).toBeGreaterThan(0.75);
  });

  test('a mirrored display, known as such, has the mirrored masks to the pixel', async () => {
    const { image } = apical(11);
    const area = { minX: 0, minY: 0, maxX: image.width - 1, maxY: image.height - 1 };
    const [straight] = await segmentChambers(permissive, [image], area);
    const [mirrored] = await segmentChambers(permissive, [mirroredImage(image)], area, true);
    if (!straight || !mirrored) throw new Error('one frame has one answer');
    const { width, height } = straight;
    const back = mirroredImage({ width, height, data: mirrored.labels });
    expect(Buffer.compare(back.data, straight.labels)).toBe(0);
    expect(mirrored.confidence).toEqual(straight.confidence);
  });
});

describe.skipIf(!existsSync(`${DATA}/camus-a4c`))('chambers of real patients (CAMUS)', () => {
  test('are outlined by the research pack as well as its card says', async () => {
    const cases = (await camusCases(DATA, 'validation')).slice(0, 8);
    const { dice, faultless } = await chamberAgreement(research, cases, LEFT_HEART);
    expect(dice.lv?.ED).toBeGreaterThan(0.92);
    expect(dice.lv?.ES).toBeGreaterThan(0.89);
    expect(dice.la?.ES).toBeGreaterThan(0.85);
    expect(faultless).toBeGreaterThanOrEqual(15);
  });

  test('are outlined by the permissive pack, which was not trained on patients', async () => {
    const cases = (await camusCases(DATA, 'validation')).slice(0, 8);
    const { dice } = await chamberAgreement(permissive, cases, LEFT_HEART);
    expect(dice.lv?.ED).toBeGreaterThan(0.85);
    expect(dice.lv?.ES).toBeGreaterThan(0.8);
  });

  test('no shape of a ventricle is found in noise', async () => {
    const random = createRandom(5);
    const data = Uint8Array.from({ length: 300 * 240 }, () => random.integer(0, 120));
    const noise = { width: 300, height: 240, data };
    const [found] = await segmentChambers(research, [noise], sectorOf([noise]));
    expect(found && (shapeFaults(found).length > 0 || !found.accepted)).toBe(true);
  });
});
