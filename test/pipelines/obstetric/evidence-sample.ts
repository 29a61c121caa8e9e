import type { Ellipse, Point } from '../../../pipelines/contract/image.ts';
import {
  type CalibratedRegion,
  type Clip,
  type Frame,
  UNDESCRIBED,
} from '../../../pipelines/contract/study.ts';
import {
  evidenceOf,
  type ObstetricEvidence,
  type StudyEvidence,
} from '../../../pipelines/obstetric/evidence.ts';
import { parseOptions } from '../../../pipelines/obstetric/input.ts';
import { interpretStudy } from '../../../pipelines/obstetric/interpret-study.ts';
import type { Locator } from '../../../pipelines/obstetric/locator.ts';
import type {
  FrameReading,
  HeadStructures,
  Plane,
} from '../../../pipelines/obstetric/shared/plane.ts';
import type {
  ObstetricSection,
  SectionEvidence,
} from '../../../pipelines/obstetric/shared/section.ts';
import type { Measurement, Result } from '../../../pipelines/result/envelope.ts';
import { byId, renderOutcome } from '../../../pipelines/result/render/render.ts';
import type { SectionFailed } from '../../../pipelines/run/sections.ts';
import { failTest } from '../fail-test.ts';

/**
 * Evidence as if it had been located in images of 800 × 600 pixels at 0.4 mm per pixel, with one
 * clip per reading.
 */

const WIDTH = 800;
const HEIGHT = 600;
export const MM_PER_PIXEL = 0.4;

const WHOLE = { minX: 0, minY: 0, maxX: WIDTH - 1, maxY: HEIGHT - 1 };
const SQUARE: CalibratedRegion = {
  area: WHOLE,
  scale: { x: MM_PER_PIXEL, y: MM_PER_PIXEL },
  source: 'region',
};

/** A locator without models, so that only image analysis can find anything. */
export const NO_MODELS: Locator = {
  planes: null,
  head: null,
  abdomen: null,
  femur: null,
  symphysisHead: null,
  midsagittal: null,
  uterus: null,
  uncertainty: { hcPercent: null, acPercent: null, flMm: null },
  models: [],
};

/** Makes lengths exact, as a machine reports them, so that none is undecided at a cut-off. */
export const EXACT = { uncertainty: NO_MODELS.uncertainty } as const;

function frame(index: number): Frame {
  const black = async () => ({ width: 1, height: 1, data: new Uint8Array(1) });
  return { index, time: 0, gray: black, rgb: black };
}

export function clip(file: string, changes: Partial<Clip> = {}): Clip {
  return {
    file,
    ...UNDESCRIBED,
    sopInstanceUid: `2.25.${file.length}`,
    sopClassUid: '1.2.840.10008.5.1.4.1.1.6.1',
    seriesInstanceUid: '2.25.1',
    width: WIDTH,
    height: HEIGHT,
    frames: [frame(0)],
    regions: [SQUARE],
    calibrationRefused: null,
    mode: '2d',
    ...changes,
  };
}

interface Shot {
  plane?: Plane;
  structures?: HeadStructures;
  confidence?: number;
  accepted?: boolean;
  clip?: Partial<Clip>;
}

let shots = 0;

function onFrame(plane: Plane, shot: Shot) {
  shots += 1;
  const taken = clip(`${shot.plane ?? plane}-${shots}.dcm`, shot.clip);
  return {
    clip: taken,
    frame: taken.frames[0] ?? frame(0),
    estimate: {
      label: shot.plane ?? plane,
      confidence: 0.9,
      ...(shot.structures && { structures: shot.structures }),
    },
  };
}

const found = ({ confidence = 0.95, accepted = true }: Shot) => ({ confidence, accepted });

/**
 * Returns an outline in the middle of the image, with axes of these lengths in mm (0.4 mm per
 * pixel).
 */
export function outline(longMm: number, shortMm: number, angle = 0.3): Ellipse {
  const semiAxis = (mm: number) => mm / 2 / MM_PER_PIXEL;
  return {
    centre: { x: WIDTH / 2, y: HEIGHT / 2 },
    a: semiAxis(longMm),
    b: semiAxis(shortMm),
    angle,
  };
}

export function head(ofdMm: number, bpdMm: number, shot: Shot = {}): FrameReading {
  return {
    ...onFrame('transthalamic', shot),
    structure: 'head',
    located: { ellipse: outline(ofdMm, bpdMm), ...found(shot) },
  };
}

export function abdomen(tadMm: number, apadMm: number, shot: Shot = {}): FrameReading {
  return {
    ...onFrame('abdominal', shot),
    structure: 'abdomen',
    located: { ellipse: outline(tadMm, apadMm), ...found(shot) },
  };
}

export function femur(mm: number, shot: Shot = {}): FrameReading {
  const from: Point = { x: 200, y: 300 };
  const to: Point = { x: 200 + mm / MM_PER_PIXEL, y: 300 };
  return {
    ...onFrame('femur', shot),
    structure: 'femur',
    located: { ends: [from, to], ...found(shot) },
  };
}

export interface Case {
  readings: FrameReading[];
  options?: Record<string, unknown>;
  evidence?: Partial<StudyEvidence>;
  /** By default, the test fails if a section throws. */
  onFailure?: SectionFailed;
}

export function interpretReadings({
  readings,
  options = {},
  evidence = {},
  onFailure = failTest,
}: Case): Result {
  const clips = [...new Set(readings.map((reading) => reading.clip))];
  return interpretStudy(
    {
      study: { clips, refused: [], files: clips.length, series: 1 },
      options: parseOptions(options),
      planes: readings.map(({ clip: of, frame: at, estimate }) => ({
        clip: of,
        frame: at,
        estimate,
      })),
      readings,
      withoutModel: [],
      uncertainty: { hcPercent: 3, acPercent: 5, flMm: 4 },
      views: {},
      priors: [],
      ...evidence,
      // The readings are made up, so their values are treated as if the method had been validated.
      accept: evidence.accept ?? 'simulated',
    },
    [],
    [],
    new Date('2026-01-01T00:00:00Z'),
    onFailure,
  );
}

/** Returns the evidence of a study about which only this much is known. */
export function evidenceWith(given: Partial<StudyEvidence>): ObstetricEvidence {
  return evidenceOf({
    study: { clips: [], refused: [], files: 1, series: 1 },
    options: parseOptions({}),
    planes: null,
    readings: [],
    withoutModel: [],
    uncertainty: NO_MODELS.uncertainty,
    views: {},
    priors: [],
    ...given,
    accept: given.accept ?? 'simulated',
  });
}

/** Runs a section on this evidence and returns its rendered text. */
export function runSection<Evidence extends SectionEvidence>(
  section: ObstetricSection<Evidence>,
  evidence: Evidence,
  before: readonly Measurement[] = [],
) {
  const outcome = section.run(evidence, before);
  return renderOutcome('section', outcome, byId([...before, ...(outcome.measurements ?? [])]));
}

/** Returns the measurement with this id. Throws if it is missing. */
export function measurementOf(result: Result, id: string) {
  const measurement = result.measurements.find((one) => one.id === id);
  if (!measurement) throw new Error(`no measurement ${id}`);
  return measurement;
}

/** Returns the section with this id. Throws if it is missing. */
export function sectionOf(result: Result, id: string) {
  const section = result.sections.find((one) => one.id === id);
  if (!section) throw new Error(`no section ${id}`);
  return section;
}

/** A fetus at 28 weeks with the medians of INTERGROWTH-21st 2014. */
export const MEDIAN_28_WEEKS = () => [head(91.8, 73.5), abdomen(75, 73.5), femur(51.3)];
