import { z } from 'zod';
import { imageNumber, type Study } from '../../contract/study.ts';
import { count, described, flag, maybeNumber, maybeText } from '../../result/envelope.ts';
import {
  type DisplayRefusal,
  type MinimumItem,
  MODES,
  sayOfViews,
} from '../../result/render/echo/views.ts';
import { notAssessed, type SectionOutcome } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { FLOWS, type Flow } from '../displays/flows.ts';
import {
  familyOf,
  type HeartView,
  isPicture,
  VIEW_FAMILIES,
  type ViewDispute,
} from '../locate/names.ts';
import type { EchoSection, PatientEvidence } from '../shared/section.ts';

interface Found {
  /**
   * Views of the 2D pictures. Colour clips are left out, because they are not used to assess walls
   * and sizes.
   */
  views: ReadonlySet<HeartView>;
  spectra: readonly Display[];
}

const inView =
  (...wanted: readonly HeartView[]) =>
  ({ views }: Found) =>
    wanted.some((view) => views.has(view));

/**
 * Returns a function that tests whether a flow was displayed with this kind of Doppler. A display
 * also counts if its header does not state the kind.
 */
const displayed =
  (flow: Flow, kind: 'pw' | 'cw') =>
  ({ spectra }: Found) =>
    spectra.some((one) => one.flow === flow && (one.kind === kind || one.kind === 'doppler'));

const hasShortAxis = ({ views }: Found) => [...views].some((view) => familyOf(view) === 'PSAX');

const hasCava = (found: Found) =>
  inView('SUBCOSTAL-IVC')(found) || found.spectra.some(({ flow }) => flow === 'vena-cava');

/** Minimum content of a complete study. This is a convention of this project ([C], echo 2.9). */
const MINIMUM: Readonly<Record<MinimumItem, (found: Found) => boolean>> = {
  PLAX: inView('PLAX'),
  PSAX: hasShortAxis,
  A4C: inView('A4C'),
  A2C: inView('A2C'),
  A3C: inView('A3C'),
  'subcostal-ivc': hasCava,
  'mitral-inflow': displayed('mitral-inflow', 'pw'),
  'septal-annulus': displayed('septal-annulus', 'pw'),
  'lateral-annulus': displayed('lateral-annulus', 'pw'),
  lvot: displayed('lvot', 'pw'),
  'aortic-valve': displayed('aortic-valve', 'cw'),
  'tricuspid-regurgitation': displayed('tricuspid-regurgitation', 'cw'),
};

/**
 * Returns the items of the minimum set that no clip shows. If any is missing, the study is limited.
 */
function missingOfMinimum({ clips, spectra }: ViewsEvidence): MinimumItem[] {
  const pictures = clips.filter(({ clip }) => isPicture(clip) && clip.mode !== 'colour');
  const found = { views: new Set(pictures.flatMap(({ view }) => view ?? [])), spectra };
  return (Object.keys(MINIMUM) as MinimumItem[]).filter((item) => !MINIMUM[item](found));
}

const file = z.string().meta({ description: 'File of the request', examples: ['scan.dcm'] });
const mode = z.string().meta({ description: 'Mode of the display', examples: ['2d'] });

const clipViewSchema = z.object({
  file,
  mode,
  view: described(
    z.enum(VIEW_FAMILIES).nullable(),
    'The view; null where no reliable view was named',
    'PSAX',
  ),
  level: maybeText('The view with its level, where the level is known', 'PSAX-PM'),
  source: described(
    z.enum(['header', 'model', 'person']).nullable(),
    'Who named the view',
    'model',
  ),
  confidence: maybeNumber(
    'Confidence of the model; null where the header names the view, or no model was used',
    0.96,
  ),
  disputed: z
    .object({
      named: z.string().meta({ description: 'The view in the header', examples: ['A4C'] }),
      seen: z.string().meta({ description: 'The view that the model sees', examples: ['A2C'] }),
    })
    .nullable()
    .meta({
      description:
        'Set if the header and the model contradict each other. Nothing is then measured on the clip until a person names its view',
    }),
  below_gate: maybeText('The view that the model would have named if it had no gate'),
  measured: flag('Whether the chambers of the clip were outlined', true),
  frames: count('Number of frames', 64),
  calibrated: z.boolean().meta({ description: 'Whether its scale is known', examples: [true] }),
  heart_rate: maybeNumber('Heart rate in the header, beats per minute', 68),
});

export const viewsDataSchema = z.looseObject({
  clips: z.array(clipViewSchema).meta({ description: 'Every clip' }),
  spectra: z
    .array(
      z.looseObject({
        file,
        mode,
        shows: maybeText('What it shows, where that is known', 'mitral-inflow'),
      }),
    )
    .meta({ description: 'Doppler and M-mode displays' }),
});
type ViewsData = z.infer<typeof viewsDataSchema>;

interface ViewsEvidence extends PatientEvidence {
  study: Pick<Study, 'clips'>;
  clips: readonly ViewedClip[];
  heart: { outlined: readonly { clip: { file: string } }[] };
  spectra: readonly Display[];
}

/** View of one clip, and what identified it: the header, the model or a person. */
interface ViewedClip {
  clip: {
    file: string;
    mode: '2d' | 'colour' | 'spectral' | 'm-mode' | 'unknown';
    frames: readonly unknown[];
    regions: readonly unknown[];
    sweeps: readonly { kind: keyof typeof MODES; valuePerPixel: number | null }[];
    heartRate: number | null;
  };
  view: HeartView | null;
  source: 'header' | 'model' | 'person' | null;
  confidence: number | null;
  /** The most probable view if its probability was below the gate; otherwise null. */
  belowGate: HeartView | null;
  dispute?: ViewDispute;
}

interface Display {
  file: string;
  kind: keyof typeof MODES;
  flow: string | null;
  /** cm/s */
  peak: number | null;
  side: string | null;
  beats: number;
  confidence: number;
  refusal: DisplayRefusal | null;
  trace: Readonly<Record<string, unknown>> | null;
}

const NEEDS = ['2D clips of the standard views', 'a permitted model of the views'] as const;

/**
 * Returns the modes of a clip: the kinds of its spectral and M-mode displays or, if it has none,
 * the mode of its picture (echo 2.3).
 */
function modesOf({ sweeps, mode }: ViewedClip['clip']): (keyof typeof MODES)[] {
  const kinds = [...new Set(sweeps.map(({ kind }) => kind))];
  return kinds.length > 0 ? kinds : [mode];
}

const familyName = (view: HeartView | null) => view && familyOf(view);

function listed(
  { clip, view, source, confidence, belowGate, dispute }: ViewedClip,
  measured: boolean,
) {
  return {
    file: clip.file,
    mode: modesOf(clip)
      .map((one) => MODES[one])
      .join(', '),
    view: familyName(view),
    level: view,
    source,
    confidence,
    disputed: dispute ?? null,
    below_gate: belowGate,
    measured,
    frames: clip.frames.length,
    calibrated: clip.regions.length > 0 || clip.sweeps.some((s) => s.valuePerPixel !== null),
    heart_rate: clip.heartRate,
  };
}

interface Gap {
  code: string;
  statement: Statement;
}

function unnamedGap({ clips, study }: ViewsEvidence): Gap | null {
  const pictures = clips.filter(({ clip }) => isPicture(clip));
  // A person who looked at a clip and named none of these views has settled the question.
  const unnamed = pictures.filter(
    ({ view, source, dispute }) => view === null && source !== 'person' && !dispute,
  );
  if (unnamed.length === 0) return null;
  const counts = { unnamed: unnamed.length, pictures: pictures.length };
  if (unnamed.every(({ confidence }) => confidence === null)) {
    return { code: 'no_permitted_model', statement: sayOfViews.gap('views.no-model', counts) };
  }
  const suspected = unnamed.flatMap(({ clip, belowGate }) =>
    belowGate ? [{ image: imageNumber(study, clip.file), view: belowGate }] : [],
  );
  return {
    code: 'view_uncertain',
    statement: sayOfViews.gap('views.uncertain', { ...counts, suspected }),
  };
}

function disputedGap({ clips, study }: ViewsEvidence): Gap | null {
  const disputes = clips.flatMap(({ clip, dispute }) =>
    dispute ? [{ image: imageNumber(study, clip.file), ...dispute }] : [],
  );
  return disputes.length === 0
    ? null
    : { code: 'view_disputed', statement: sayOfViews.gap('views.disputed', { disputes }) };
}

const nameOf = (flow: string | null) =>
  flow !== null && flow in FLOWS ? FLOWS[flow as Flow] : null;

function refusedGap({ spectra, study }: ViewsEvidence): Gap | null {
  const displays = spectra.flatMap(({ file, kind, flow, refusal }) =>
    refusal === null
      ? []
      : [{ image: imageNumber(study, file), mode: kind, shows: nameOf(flow), why: refusal }],
  );
  return displays.length === 0
    ? null
    : {
        code: 'display_refused',
        statement: sayOfViews.gap('views.displays-refused', { displays }),
      };
}

function limitedGap(evidence: ViewsEvidence): Gap | null {
  const missing = missingOfMinimum(evidence);
  return missing.length === 0
    ? null
    : { code: 'view_missing', statement: sayOfViews.gap('views.limited', { missing }) };
}

function run(evidence: ViewsEvidence): SectionOutcome {
  const { clips, heart, spectra } = evidence;
  if (clips.length === 0) {
    return notAssessed('view_missing', sayOfViews.gap('views.no-image', {}), NEEDS);
  }
  const found = (by: ViewedClip['source']) => {
    const own = clips.filter(({ source }) => source === by);
    return [...new Set(own.flatMap(({ view }) => familyName(view) ?? []))];
  };
  const [coded, seen, given] = [found('header'), found('model'), found('person')];
  const gaps = [
    disputedGap(evidence),
    unnamedGap(evidence),
    limitedGap(evidence),
    refusedGap(evidence),
  ].filter((one) => one !== null);
  const missing = gaps.map(({ statement }) => statement);
  const outlined = new Set(heart.outlined.map(({ clip }) => clip.file));
  return {
    status: gaps[0] ? 'partial' : 'complete',
    reason: gaps[0] ? { code: gaps[0].code, gaps: missing, needs: [...NEEDS] } : null,
    statements: [
      ...(coded.length > 0 ? [sayOfViews.conclusion('views.named', { views: coded })] : []),
      ...(seen.length > 0 ? [sayOfViews.conclusion('views.seen', { views: seen })] : []),
      ...(given.length > 0 ? [sayOfViews.conclusion('views.by-person', { views: given })] : []),
      sayOfViews.conclusion('views.modes', { modes: clips.map(({ clip }) => modesOf(clip)) }),
      ...missing,
    ],
    data: {
      spectra: spectra.map((reading) => ({
        file: reading.file,
        mode: MODES[reading.kind],
        shows: reading.flow,
        peak_cm_s: reading.peak,
        side: reading.side,
        beats: reading.beats,
        confidence: reading.confidence,
        refusal: reading.refusal,
        trace: reading.trace,
      })),
      clips: clips.map((one) => listed(one, outlined.has(one.clip.file))),
    } satisfies ViewsData,
  };
}

/**
 * Reports the view and mode of every clip, from the header or otherwise from the images (echo 2).
 */
export const views: EchoSection<ViewsEvidence> = {
  id: 'views',
  title: 'Views and modes',
  needs: NEEDS,
  measures: [],
  run,
};
