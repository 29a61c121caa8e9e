import type { Clip } from '../../contract/study.ts';
import type { EchoEvidence, EchoSection, SectionOutcome } from '../section.ts';

/** Codes of CID 12226 and of TID 5200 → view of service.md 2.6 (echo reference 2.1). */
const VIEW_CODES: Readonly<Record<string, string>> = {
  'SCT:399139001': 'PLAX',
  'SCT:399239005': 'PSAX',
  'SCT:399036006': 'PSAX',
  'SCT:399371001': 'PSAX',
  'SCT:399271003': 'PSAX',
  'SCT:399306005': 'PSAX',
  'SCT:399214001': 'A4C',
  'DCM:130681': 'A4C',
  'DCM:130682': 'A4C',
  'SCT:399232001': 'A2C',
  'SCT:399339008': 'A3C',
  'SCT:398994001': 'A5C',
  'SCT:399310008': 'subcostal',
  'SCT:399200001': 'subcostal',
  'SCT:399106004': 'suprasternal',
  'SCT:443562002': 'suprasternal',
  'SCT:399145009': 'suprasternal',
};

/** What carts write as View Name of a stress protocol; matched, never shown. */
const VIEW_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^(plax|parasternal long axis)$/i, 'PLAX'],
  [/^(psax|sax|parasternal short axis).*$/i, 'PSAX'],
  [/^(a4c|4ch|ap4|apical (4|four) chamber)$/i, 'A4C'],
  [/^(a2c|2ch|ap2|apical (2|two) chamber)$/i, 'A2C'],
  [/^(a3c|3ch|ap3|aplax|apical (3|three) chamber|apical long axis)$/i, 'A3C'],
  [/^(a5c|5ch|ap5|apical (5|five) chamber)$/i, 'A5C'],
];

/** The view that the header names; null where it names none that is known. */
export function viewOf({ viewCode, viewName }: Pick<Clip, 'viewCode' | 'viewName'>): string | null {
  const coded = viewCode ? VIEW_CODES[viewCode] : undefined;
  const named = VIEW_NAMES.find(([pattern]) => pattern.test((viewName ?? '').trim()))?.[1];
  return coded ?? named ?? null;
}

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

const NEEDS = ['the view in the header (View Code Sequence, View Name)'] as const;

function run({ study: { clips }, spectra }: EchoEvidence): SectionOutcome {
  if (clips.length === 0) {
    const none = 'No image was supplied: the study holds reports of the machine alone.';
    return {
      status: 'not_assessed',
      reason: { code: 'view_missing', detail: none, needs: [...NEEDS] },
      summary: none,
    };
  }
  const named = clips.map((clip) => ({ clip, view: viewOf(clip) }));
  const views = [...new Set(named.flatMap(({ view }) => view ?? []))];
  const unnamed = named.filter(({ view }) => view === null).length;
  const detail = `No permitted model recognises the views of the heart; of ${unnamed} of ${clips.length} clips the header names no view, and they were not measured.`;
  const modes = [...new Set(clips.map(modeOf))].join(', ');
  const found = views.length > 0 ? `Views that the machine names: ${views.join(', ')}. ` : '';
  return {
    status: unnamed === 0 ? 'complete' : 'partial',
    reason: unnamed === 0 ? null : { code: 'no_permitted_model', detail, needs: [...NEEDS] },
    summary: `${found}Modes: ${modes}.${unnamed === 0 ? '' : ` ${detail}`}`,
    data: {
      spectra: spectra.map(({ file, kind, peak, side, beats, confidence, refusal }) => ({
        file,
        mode: MODES[kind],
        peak_cm_s: peak,
        side,
        beats,
        confidence,
        refusal,
      })),
      clips: named.map(({ clip, view }) => ({
        file: clip.file,
        mode: modeOf(clip),
        view,
        source: view ? 'header' : null,
        frames: clip.frames.length,
        calibrated: clip.regions.length > 0 || clip.sweeps.some((s) => s.valuePerPixel !== null),
        heart_rate: clip.heartRate,
      })),
    },
  };
}

/** View and mode of every clip, as the machine's header says them (echo reference 2). */
export const views: EchoSection = {
  id: 'views',
  title: 'Views and modes',
  needs: NEEDS,
  measures: [],
  run,
};
