import type { Clip } from '../../contract/study.ts';
import { flowTrace } from '../../result/flow-trace.ts';
import type { SectionOutcome } from '../../result/section-outcome.ts';
import { missingOfMinimum } from '../minimum-set.ts';
import type { ClipView } from '../reader.ts';
import type { EchoEvidence, EchoSection } from '../section.ts';
import { familyOf, type HeartView, isPicture } from '../view-names.ts';
import type { ViewsData } from '../views-data.ts';

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

/** Mode from the regions first, then from the flags of the header (reference 2.3). */
function modeOf({ sweeps, mode }: Clip): string {
  const kinds = [...new Set(sweeps.map(({ kind }) => MODES[kind]))];
  return kinds.length > 0 ? kinds.join(', ') : MODES[mode];
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
  spectra: EchoEvidence['spectra'],
): { code: string; detail: string } | null {
  const missing = missingOfMinimum(clips, spectra);
  return missing.length === 0
    ? null
    : {
        code: 'view_missing',
        detail: `Limited study: of the minimum set of a complete one, no clip was found of ${missing.join(', ')}.`,
      };
}

function run({ clips, heart, spectra }: EchoEvidence): SectionOutcome {
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

/** View and mode of every clip: as the header says them, else as the images show (reference 2). */
export const views: EchoSection = {
  id: 'views',
  title: 'Views and modes',
  needs: NEEDS,
  measures: [],
  run,
};
