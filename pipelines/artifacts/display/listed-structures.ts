import { z } from 'zod';
import type { Result } from '../../result/envelope.ts';
import { flowTraceSchema, LOCATED_STRUCTURES, type StructureName } from '../../result/measured.ts';
import { closedOutline, type ListedStructure } from '../seg/outlined-structures.ts';
import type { Contour, FlowTrace, OverlayClip, Structure } from './overlay-contract.ts';

const STRUCTURES = ['lv', 'myocardium', 'la', 'rv', 'ra'] as const satisfies Contour['structure'][];

/**
 * Step between the outline points that are written. Outlines have a point every few pixels, so
 * leaving out every second one halves the size without a visible difference.
 */
const CONTOUR_STEP = 2;

const outline = z.array(z.tuple([z.number(), z.number()])).optional();

const outlinedClips = z.array(
  z.object({
    file: z.string(),
    beats: z.array(z.object({ end_diastole_frame: z.number(), end_systole_frame: z.number() })),
    outlines: z.array(
      z.object({
        frame: z.number(),
        faults: z.array(z.string()),
        lv: outline,
        myocardium: outline,
        la: outline,
        rv: outline,
        ra: outline,
      }),
    ),
  }),
);

const viewedClips = z.array(z.object({ file: z.string(), view: z.string().nullable() }));

const framePlanes = z.array(z.object({ file: z.string(), frame: z.number(), plane: z.string() }));

/** Plane name for a frame on which no plane was recognised (obstetric/shared/plane.ts). */
const NO_PLANE = 'other';

const spectra = z.array(
  z.object({
    file: z.string(),
    shows: z.string().nullish(),
    vessel: z.string().nullish(),
    trace: flowTraceSchema.nullish(),
  }),
);

function listed<Entry>(
  { sections }: Pick<Result, 'sections'>,
  section: string,
  key: string,
  shape: z.ZodType<Entry[]>,
): Entry[] {
  const data = sections.find(({ id }) => id === section)?.data;
  return shape.safeParse(data?.[key]).data ?? [];
}

const frameKey = (file: string, frame: number) => JSON.stringify([file, frame]);

/** Frame-level data of a result's sections, looked up by file. */
export interface Listed {
  /** Returns the 1-based numbers of the frames in a file that best show their plane. */
  bestOf(file: string): number[];
  /**
   * Returns the view of the clip or, if no view is listed, the plane of the frame; null if neither
   * is listed.
   */
  viewOf(file: string, frame: number): string | null;
  beatsOf(file: string): OverlayClip['beats'];
  contoursOf(file: string): Contour[];
  tracesOf(file: string): FlowTrace[];
}

/**
 * Collects what the sections list for each file and frame (outlines, traces, planes, views). These
 * are not part of the measurements.
 */
export function listedInSections(result: Pick<Result, 'sections'>): Listed {
  const outlined = listed(result, 'segment-chambers', 'clips', outlinedClips);
  const traced = ['doppler', 'views'].flatMap((section) =>
    listed(result, section, 'spectra', spectra).map((spectrum) => ({ section, ...spectrum })),
  );
  const views = new Map<string, string>();
  for (const { file, vessel, shows } of traced) {
    const shown = vessel ?? shows;
    if (shown) views.set(file, shown);
  }
  for (const { file, view } of listed(result, 'views', 'clips', viewedClips)) {
    if (view) views.set(file, view);
  }
  const best = listed(result, 'planes', 'key_frames', framePlanes);
  const planes = new Map(
    listed(result, 'planes', 'frames', framePlanes).map(({ file, frame, plane }) => [
      frameKey(file, frame),
      plane === NO_PLANE ? null : plane,
    ]),
  );
  return {
    bestOf: (file) => best.filter((one) => one.file === file).map(({ frame }) => frame),
    viewOf: (file, frame) => views.get(file) ?? planes.get(frameKey(file, frame)) ?? null,
    beatsOf: (file) =>
      outlined
        .filter((clip) => clip.file === file)
        .flatMap(({ beats }) => beats)
        .map((beat) => ({
          end_diastole: beat.end_diastole_frame,
          end_systole: beat.end_systole_frame,
        })),
    contoursOf: (file) =>
      outlined
        .filter((clip) => clip.file === file)
        .flatMap(({ outlines }) => outlines)
        .flatMap((one) =>
          STRUCTURES.flatMap((structure) => {
            const whole = one[structure];
            if (!whole) return [];
            const points = whole.filter((_, index) => index % CONTOUR_STEP === 0);
            const measured = one.faults.length === 0;
            return [{ frame: one.frame, structure, points, measured }];
          }),
        ),
    tracesOf: (file) =>
      traced.flatMap(({ section, file: own, trace }) =>
        own === file && trace ? [{ section, ...trace }] : [],
      ),
  };
}

const CONTOURED = ['symphysis', 'fetal-head', 'fetal-abdomen'] as const satisfies (StructureName &
  Contour['structure'])[];

/** Returns the structures that the sections found on one clip. */
export function structuresOn(file: string, listed: readonly ListedStructure[]): Structure[] {
  return listed
    .filter((one) => one.file === file)
    .map(({ frame, section, structure, confidence, accepted, place }) => ({
      frame,
      section,
      structure,
      label: LOCATED_STRUCTURES[structure],
      confidence,
      accepted,
      ...place,
    }));
}

/** Returns the closed outlines on one clip among the structures that the sections found. */
export function contoursOn(file: string, listed: readonly ListedStructure[]): Contour[] {
  return listed.flatMap((one) => {
    const structure = CONTOURED.find((name) => name === one.structure);
    const points = one.file === file && structure ? closedOutline(one.place) : null;
    if (!structure || !points) return [];
    return [{ frame: one.frame, structure, points, measured: one.accepted }];
  });
}
