import type { ConceptKey } from '../concepts/concepts.ts';
import type { Ellipse, Point } from '../contract/image.ts';
import type { Job } from '../contract/job.ts';
import type { Clip, Frame, Study } from '../contract/study.ts';
import type { StudyEvidence } from '../obstetric/evidence.ts';
import {
  INTERGROWTH_SIZE_WEEKS,
  type IntergrowthMeasure,
  intergrowthSizeAt,
} from '../obstetric/growth/charts.ts';
import { type ObstetricOptions, parseOptions } from '../obstetric/input.ts';
import { interpretStudy } from '../obstetric/interpret-study.ts';
import type { FramePlane, FrameReading, Plane } from '../obstetric/shared/plane.ts';
import type { Result } from '../result/envelope.ts';
import { machineReport } from './machine-report.ts';
import { CENTRE, MM_PER_PIXEL, mockClip } from './picture.ts';
import type { Seed } from './seed.ts';

/** Gestational age, in days, assumed if none was given. */
const USUAL_GA_DAYS = 196;

/** Planes shown in the frames of the clip, in order. */
const SHOWN = [
  'transthalamic',
  'abdominal',
  'femur',
  'placenta',
  'cervix',
  'transperineal',
] as const satisfies readonly Plane[];

const SURE = { confidence: 0.9, accepted: true } as const;

/**
 * Values for the quantities whose sections are not drawn. They do not describe one pregnancy: a
 * mock result has every section, even those that never occur in the same examination.
 */
const REPORTED = {
  'deepest-vertical-pocket': 48,
  'amniotic-fluid-index': 142,
  'mean-sac-diameter': 42,
  'yolk-sac': 4.6,
  crl: 62,
  'nuchal-translucency': 1.6,
  'fetal-heart-rate': 146,
  'atrial-width': 6.4,
  'transcerebellar-diameter': 33,
  'cisterna-magna': 5.6,
  'cervical-length': 36,
  'umbilical-artery-pi': 1.02,
  'umbilical-artery-ri': 0.64,
  'middle-cerebral-artery-pi': 1.95,
  'uterine-artery-pi': 0.82,
} as const satisfies Partial<Record<ConceptKey, number>>;

function ellipse(longMm: number, shortMm: number, angle: number, centre = CENTRE): Ellipse {
  const semiAxis = (mm: number) => mm / 2 / MM_PER_PIXEL;
  return { centre, a: semiAxis(longMm), b: semiAxis(shortMm), angle };
}

const shiftedMm = ({ x, y }: Point, mmRight: number, mmDown: number): Point => ({
  x: x + mmRight / MM_PER_PIXEL,
  y: y + mmDown / MM_PER_PIXEL,
});

const on = (clip: Clip) => (label: (typeof SHOWN)[number]) => ({
  clip,
  frame: clip.frames[SHOWN.indexOf(label)] as Frame,
  estimate: { label, confidence: 0.9 },
});

/**
 * Returns outlines and end points for a fetus of average size for its age, in the form returned by
 * a locator.
 */
function biometryOf(clip: Clip, options: ObstetricOptions, seed: Seed): FrameReading[] {
  const { from, to } = INTERGROWTH_SIZE_WEEKS;
  const weeks = Math.min(Math.max((options.dating?.ga_days ?? USUAL_GA_DAYS) / 7, from), to);
  const millimetres = (measure: IntergrowthMeasure, n: number) =>
    intergrowthSizeAt(measure, weeks, seed.share(n) - 0.5) ?? 0;
  const found = (n: number) => ({ confidence: 0.85 + seed.share(n) / 10, accepted: true });
  const at = on(clip);
  const diameter = millimetres('ac', 2) / Math.PI;
  const femur = millimetres('fl', 3) / 2;
  return [
    {
      ...at('transthalamic'),
      structure: 'head',
      located: {
        ellipse: ellipse(millimetres('ofd', 0), millimetres('bpd', 1), 0.2),
        ...found(4),
      },
    },
    {
      ...at('abdominal'),
      structure: 'abdomen',
      located: { ellipse: ellipse(diameter * 1.03, diameter * 0.97, 0.1), ...found(5) },
    },
    {
      ...at('femur'),
      structure: 'femur',
      located: { ends: [shiftedMm(CENTRE, -femur, 0), shiftedMm(CENTRE, femur, 0)], ...found(6) },
    },
  ];
}

/** Returns made-up results for all readers other than the biometry reader. */
function viewsOf(clip: Clip): StudyEvidence['views'] {
  const at = on(clip);
  const lowerEdge: Point = { x: 130, y: 90 };
  return {
    placenta: {
      bodies: [
        {
          ...at('placenta'),
          located: {
            side: 'posterior',
            thickness: [shiftedMm(CENTRE, 0, 30), shiftedMm(CENTRE, 0, 58)],
            lacunae: 0,
            ...SURE,
          },
        },
      ],
      edges: [
        {
          ...at('cervix'),
          route: 'transvaginal',
          located: { internalOs: CENTRE, edge: shiftedMm(CENTRE, 45, 0), overlaps: false, ...SURE },
        },
      ],
      uncertainty: { toOs: 4, thickness: 4 },
    },
    laborProgress: {
      uncertainty: 4,
      frames: [
        {
          ...at('transperineal'),
          located: {
            symphysis: { centre: { x: 100, y: 90 }, a: 30, b: 12, angle: 0 },
            head: ellipse(95, 75, 0.35, { x: 160, y: 190 }),
            skull: [shiftedMm(lowerEdge, 25, 48), shiftedMm(lowerEdge, 0, 18)],
            ...SURE,
          },
          borders: {},
        },
      ],
    },
    presentation: {
      sweeps: [
        {
          clip,
          direction: 'to-cranial',
          runs: [
            { part: 'head', from: 0, to: 20 },
            { part: 'trunk', from: 24, to: 50 },
          ],
        },
      ],
      cardiac: [],
    },
  };
}

/**
 * Runs the real sections on made-up readings, so that the envelope is the same as for a live
 * request and every section has content.
 */
export function mockObstetric(
  job: Job,
  seed: Seed,
  generatedAt: Date,
): { result: Result; study: Study; options: ObstetricOptions } {
  const options = parseOptions(job.options);
  const [file = 'mock'] = job.files;
  const clip = mockClip(file, SHOWN.length, 1);
  const readings = biometryOf(clip, options, seed);
  const study: Study = {
    clips: [clip],
    refused: [],
    files: job.files.length,
    series: 1,
    cart: machineReport(file, REPORTED, seed),
  };
  const result = interpretStudy(
    {
      study,
      options,
      accept: 'simulated',
      planes: SHOWN.map(on(clip)) satisfies FramePlane[],
      readings,
      withoutModel: [],
      views: viewsOf(clip),
      uncertainty: { hcPercent: null, acPercent: null, flMm: null },
      priors: job.priorFiles,
    },
    [],
    [],
    generatedAt,
  );
  return { result, study, options };
}
