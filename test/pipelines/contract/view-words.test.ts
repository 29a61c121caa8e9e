import { describe, expect, it } from 'vitest';
import { fetusesIn, fetusOf, multipleIn } from '../../../pipelines/contract/fetus-name.ts';
import { UNDESCRIBED } from '../../../pipelines/contract/study.ts';
import { plainWords, viewWords } from '../../../pipelines/contract/view-words.ts';
import { headerFlow } from '../../../pipelines/echo/displays/flows.ts';
import { measurePocket } from '../../../pipelines/obstetric/amniotic-fluid/measure.ts';
import { quadrantOf } from '../../../pipelines/obstetric/amniotic-fluid/read.ts';
import { lateralityOf, vesselOf } from '../../../pipelines/obstetric/doppler/read.ts';
import { fetalHeartReader } from '../../../pipelines/obstetric/fetal-heart/read.ts';
import { parseOptions } from '../../../pipelines/obstetric/input.ts';
import { namedSweep, namedView } from '../../../pipelines/obstetric/shared/view-names.ts';
import { fetusKey } from '../../../pipelines/result/measured.ts';
import { clip, NO_MODELS } from '../obstetric/evidence-sample.ts';

/** Creates an image with this view name from the cart, for use with any of the readers. */
const named = (viewName: string, stageName: string | null = null) =>
  clip('a.dcm', { ...UNDESCRIBED, viewName, stageName });

describe('the words of view and stage', () => {
  it.each([
    ['AFI_Q4', 'afi q4'],
    ['trans-vaginal  Sac', 'trans vaginal sac'],
    ['L/R Umb.A: #2', 'l r umb a 2'],
    ['', ''],
  ])('of %s are %s', (written, words) => {
    expect(plainWords(written)).toBe(words);
  });

  it('are those of both, the view first', () => {
    expect(viewWords(named('UA', 'Twin_B'))).toBe('ua twin b');
    expect(viewWords({ viewName: null, stageName: 'REST' })).toBe('rest');
  });
});

describe('every reader treats an underscore, a hyphen and a point as a space', () => {
  it.each(['tv_sac', 'sac-TV', 'trans_vaginal', 'ENDO-VAGINAL'])('route of %s', (name) => {
    expect(namedView(named(name)).route).toBe('transvaginal');
  });

  it.each([
    ['AFI_Q1', 0],
    ['RIGHT_LOWER', 1],
    ['AFI-LUQ', 2],
    ['quad.4', 3],
    ['AFI', null],
  ])('quadrant of %s', (name, quadrant) => {
    const taken = clip('a.dcm', { viewName: name });
    const pocket = {
      top: { x: 400, y: 20 },
      bottom: { x: 400, y: 100 },
      cut: false,
      confidence: 0.9,
      accepted: true,
    };
    const estimate = { label: 'other', confidence: 0.9 } as const;
    const [frame] = taken.frames;
    if (!frame) throw new Error('a clip without a frame');
    const calibrated = true;
    const reading = {
      clip: taken,
      frame,
      estimate,
      calibrated,
      quadrant: quadrantOf(taken),
      pocket,
    };
    expect(measurePocket(reading, null)?.reading.quadrant).toBe(quadrant);
  });

  it.each([
    ['RT_UT_A', 'uterine-artery', 'right'],
    ['Umb.A-left', 'umbilical-artery', 'left'],
    ['middle_cerebral', 'middle-cerebral-artery', null],
  ])('vessel of %s', (name, vessel, side) => {
    expect(vesselOf(named(name))).toBe(vessel);
    expect(lateralityOf(named(name))).toBe(side);
  });

  it.each(['FUNDUS_TO_CERVIX', 'sweep/cranio-caudal'])('sweep of %s', (name) => {
    expect(namedSweep(named(name))).toEqual({ sweep: true, direction: 'to-caudal' });
  });

  it.each(['TV_regurg', 'TV-REGURG', 'tv.regurg'])('flow of %s', (name) => {
    expect(headerFlow(named(name), 'cw')).toBe('tricuspid-regurgitation');
  });

  it.each(['HEART_4CH', 'four-chamber', '3VV_four.chamber'])('view of %s', async (name) => {
    const study = { clips: [named(name)], refused: [], files: 1, series: 1 };
    const { views } = await fetalHeartReader.read({
      study,
      planes: [],
      options: parseOptions({}),
      locator: NO_MODELS,
      signal: AbortSignal.timeout(10_000),
    });
    expect(views.map(({ view }) => view)).toContain('four-chamber');
  });
});

describe("the fetus that a view's name identifies", () => {
  it.each([
    ['FETUS_A_HC', 'A'],
    ['twin-b ua', 'B'],
    ['Baby #2', '2'],
    ['Fetus No. 1', '1'],
    ['HC FETUS A', 'A'],
    ['FETUS 4 CHAMBER', null],
    ['FETUS 3-VESSEL VIEW', null],
    ['FETUS 2 4CH', '2'],
    ['FETUS 3D', null],
    ['FETUS HC', null],
    ['AC', null],
    ['FETUS A FETUS B', null],
  ])('%s: %s', (name, fetus) => {
    expect(fetusOf(named(name))).toBe(fetus);
  });

  it.each([
    ['twins', 2],
    ['twin a', 2],
    ['triplet c', 3],
    ['fetus b', null],
    ['twin view', null],
    ['twinview', null],
  ])('%s tell of %s', (words, count) => {
    expect(multipleIn(words)).toBe(count);
  });

  it('is each of them if two are mentioned', () => {
    expect(fetusesIn('fetus a and fetus b and fetus a')).toEqual(['A', 'B']);
  });

  it('is the same by letter and by number; any other label is only itself', () => {
    expect(fetusKey('A')).toBe(fetusKey('1'));
    expect(fetusKey('B')).not.toBe(fetusKey('1'));
    expect(fetusKey('XKQ')).toBe('XKQ');
    expect(fetusKey(null)).toBe('');
  });
});
