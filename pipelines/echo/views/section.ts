import { z } from 'zod';
import type { Clip, SweepKind } from '../../contract/study.ts';
import { flowTrace } from '../../result/flow-trace.ts';
import type { SectionOutcome } from '../../result/section-outcome.ts';
import type { Flow } from '../displays/flows.ts';
import type { DisplayReading } from '../displays/reading.ts';
import type { ClipView } from '../locate/names.ts';
import { familyOf, type HeartView, isPicture, VIEW_FAMILIES } from '../locate/names.ts';
import type { EchoSection, PatientEvidence } from '../shared/section.ts';

interface Found {
  /** Views of the 2D pictures; colour alone shows no wall and no size. */
  views: ReadonlySet<HeartView>;
  spectra: readonly DisplayReading[];
}

const inView =
  (...wanted: readonly HeartView[]) =>
  ({ views }: Found) =>
    wanted.some((view) => views.has(view));

/** A display of a flow; one whose kind of Doppler the header does not say counts. */
const displayed =
  (flow: Flow, kind: SweepKind) =>
  ({ spectra }: Found) =>
    spectra.some((one) => one.flow === flow && (one.kind === kind || one.kind === 'doppler'));

const hasShortAxis = ({ views }: Found) => [...views].some((view) => familyOf(view) === 'PSAX');

const hasCava = (found: Found) =>
  inView('SUBCOSTAL-IVC')(found) || found.spectra.some(({ flow }) => flow === 'vena-cava');

/** What a complete study holds at least; a convention of the project ([C], echo 2.9). */
const MINIMUM: readonly { name: string; isIn(found: Found): boolean }[] = [
  { name: 'PLAX', isIn: inView('PLAX') },
  { name: 'PSAX', isIn: hasShortAxis },
  { name: 'A4C', isIn: inView('A4C') },
  { name: 'A2C', isIn: inView('A2C') },
  { name: 'A3C', isIn: inView('A3C') },
  { name: 'subcostal IVC', isIn: hasCava },
  { name: 'mitral inflow PW', isIn: displayed('mitral-inflow', 'pw') },
  { name: 'septal tissue Doppler', isIn: displayed('septal-annulus', 'pw') },
  { name: 'lateral tissue Doppler', isIn: displayed('lateral-annulus', 'pw') },
  { name: 'LVOT PW', isIn: displayed('lvot', 'pw') },
  { name: 'aortic valve CW', isIn: displayed('aortic-valve', 'cw') },
  { name: 'TR CW', isIn: displayed('tricuspid-regurgitation', 'cw') },
];

/** Of the minimum set what no clip was found to show, by name; anything is a limited study. */
export function missingOfMinimum(
  clips: readonly ClipView[],
  spectra: readonly DisplayReading[],
): string[] {
  const pictures = clips.filter(({ clip }) => isPicture(clip) && clip.mode !== 'colour');
  const found = { views: new Set(pictures.flatMap(({ view }) => view ?? [])), spectra };
  return MINIMUM.filter(({ isIn }) => !isIn(found)).map(({ name }) => name);
}

/** The view of one clip. */
const clipViewSchema = z.object({
  file: z.string(),
  mode: z.string(),
  /** Null: none that can be relied on. */
  view: z.enum(VIEW_FAMILIES).nullable(),
  /** The same with its level (`PSAX-PM`), where that is known. */
  level: z.string().nullable(),
  source: z.enum(['header', 'model']).nullable(),
  /** Of the model; null where the header names the view, or no model looked. */
  confidence: z.number().nullable(),
  /** The view that the model would have named without its gate. */
  below_gate: z.string().nullable(),
  /** Whether its chambers were outlined. */
  measured: z.boolean(),
  frames: z.number().int(),
  calibrated: z.boolean(),
  /** Beats per minute, of the header. */
  heart_rate: z.number().nullable(),
});

/** `data` of the section `views`. */
export const viewsDataSchema = z.looseObject({
  clips: z.array(clipViewSchema),
  /** Doppler and M-mode displays. */
  spectra: z.array(
    z.looseObject({ file: z.string(), mode: z.string(), shows: z.string().nullable() }),
  ),
});
export type ViewsData = z.infer<typeof viewsDataSchema>;

const MODES = {
  pw: 'pulsed Doppler',
  cw: 'continuous wave Doppler',
  doppler: 'spectral Doppler',
  'm-mode': 'M-mode',
  'colour-m-mode': 'colour M-mode',
  '2d': '2D',
  colour: 'colour Doppler 2D',
  spectral: 'spectral Doppler, type unknown',
  unknown: 'unknown',
} as const;

/** Mode from the regions first, then from the flags of the header (echo 2.3). */
function modeOf({ sweeps, mode }: Clip): string {
  const kinds = [...new Set(sweeps.map(({ kind }) => MODES[kind]))];
  return kinds.length > 0 ? kinds.join(', ') : MODES[mode];
}

/** What this section looks at. */
interface ViewsEvidence extends PatientEvidence {
  clips: readonly ClipView[];
  /** The clips whose chambers were outlined. */
  heart: { outlined: readonly { clip: { file: string } }[] };
  /** Every Doppler and M-mode display. */
  spectra: readonly DisplayReading[];
}

const NEEDS = ['2D clips of the standard views', 'a permitted model of the views'] as const;

const familyName = (view: HeartView | null) => view && familyOf(view);

/** What each clip is, for the reader of the result: named where the view is only suspected. */
function listed({ clip, view, source, confidence, belowGate }: ClipView, measured: boolean) {
  return {
    file: clip.file,
    mode: modeOf(clip),
    view: familyName(view),
    level: view,
    source,
    confidence,
    below_gate: belowGate,
    measured,
    frames: clip.frames.length,
    calibrated: clip.regions.length > 0 || clip.sweeps.some((s) => s.valuePerPixel !== null),
    heart_rate: clip.heartRate,
  };
}

/** Clips of which no view is known, in words; null: of every picture it is. */
function unnamedInWords(clips: readonly ClipView[]): { code: string; detail: string } | null {
  const pictures = clips.filter(({ clip }) => isPicture(clip));
  const unnamed = pictures.filter(({ view }) => view === null);
  if (unnamed.length === 0) return null;
  const count = `${unnamed.length} of ${pictures.length} clips`;
  if (unnamed.every(({ confidence }) => confidence === null)) {
    const detail = `No permitted model recognises the views of the heart; of ${count} the header names no view, and they were not measured.`;
    return { code: 'no_permitted_model', detail };
  }
  const suspected = unnamed.flatMap(({ clip, belowGate }) =>
    belowGate ? [`${clip.file} (perhaps ${belowGate})`] : [],
  );
  const names = suspected.length > 0 ? `: ${suspected.join(', ')}` : '';
  const detail = `The view of ${count} is below the gate or none of the known ones, and they were not measured${names}.`;
  return { code: 'view_uncertain', detail };
}

/** That a study is limited, and by what; null where the minimum set is whole. */
function limitedInWords(
  clips: readonly ClipView[],
  spectra: readonly DisplayReading[],
): { code: string; detail: string } | null {
  const missing = missingOfMinimum(clips, spectra);
  return missing.length === 0
    ? null
    : {
        code: 'view_missing',
        detail: `Limited study: of the minimum set of a complete one, no clip was found of ${missing.join(', ')}.`,
      };
}

function run({ clips, heart, spectra }: ViewsEvidence): SectionOutcome {
  if (clips.length === 0) {
    const none = 'No image was supplied: the study holds reports of the machine alone.';
    return {
      status: 'not_assessed',
      reason: { code: 'view_missing', detail: none, needs: [...NEEDS] },
      summary: none,
    };
  }
  const found = (by: ClipView['source']) => {
    const own = clips.filter(({ source }) => source === by);
    return [...new Set(own.flatMap(({ view }) => familyName(view) ?? []))].join(', ');
  };
  const [coded, seen] = [found('header'), found('model')];
  const gaps = [unnamedInWords(clips), limitedInWords(clips, spectra)].filter(
    (one) => one !== null,
  );
  const detail = gaps.map((one) => one.detail).join(' ');
  const outlined = new Set(heart.outlined.map(({ clip }) => clip.file));
  const said = [
    coded && `Views that the machine names: ${coded}.`,
    seen && `Views that the images show: ${seen}.`,
    `Modes: ${[...new Set(clips.map(({ clip }) => modeOf(clip)))].join(', ')}.`,
    detail,
  ];
  return {
    status: gaps[0] ? 'partial' : 'complete',
    reason: gaps[0] ? { code: gaps[0].code, detail, needs: [...NEEDS] } : null,
    summary: said.filter(Boolean).join(' '),
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
        trace: reading.trace && flowTrace(reading.frame, reading.trace),
      })),
      clips: clips.map((one) => listed(one, outlined.has(one.clip.file))),
    } satisfies ViewsData,
  };
}

/** View and mode of every clip: as the header says them, else as the images show (echo 2). */
export const views: EchoSection<ViewsEvidence> = {
  id: 'views',
  title: 'Views and modes',
  needs: NEEDS,
  measures: [],
  run,
};
