import type { Clip, SweepKind } from '../../contract/study.ts';
import { plainWords, viewWords } from '../../contract/view-words.ts';
import { isUnderStress } from '../locate/header-view.ts';

/** Flows that are measured on spectral displays (echo 7, 10, 11, 12, 17). */
export const FLOWS = {
  'mitral-inflow': 'Mitral inflow',
  lvot: 'LVOT',
  'lvot-rest': 'LVOT by CW at rest',
  'lvot-provoked': 'LVOT by CW, provoked',
  'aortic-valve': 'Aortic valve',
  'aortic-regurgitation': 'Aortic regurgitation',
  'mitral-regurgitation': 'Mitral regurgitation',
  'tricuspid-regurgitation': 'Tricuspid regurgitation',
  rvot: 'RVOT',
  'pulmonary-valve': 'Pulmonary valve',
  'pulmonary-regurgitation': 'Pulmonary regurgitation',
  'pulmonary-vein': 'Pulmonary vein',
  'isovolumic-relaxation': 'LVOT and mitral inflow',
  'septal-annulus': 'Septal mitral annulus',
  'lateral-annulus': 'Lateral mitral annulus',
  'tricuspid-annulus': 'Tricuspid annulus',
} as const;
export type Flow = keyof typeof FLOWS;

const ALL = Object.keys(FLOWS) as Flow[];

export const TISSUE: ReadonlySet<Flow> = new Set([
  'septal-annulus',
  'lateral-annulus',
  'tricuspid-annulus',
]);

/**
 * Flow for each structure in the Anatomic Region Sequence and each kind of Doppler (codes in echo
 * 18.5). If the header does not state the direction of flow, a display of a valve may show stenosis
 * or regurgitation. CW is usually recorded for the ejection at the aortic valve and for
 * regurgitation at the tricuspid valve, and is interpreted accordingly.
 */
const REGIONS: readonly { region: string; kinds: readonly SweepKind[]; flow: Flow }[] = [
  { region: 'SCT:13418002', kinds: ['pw', 'cw'], flow: 'lvot' },
  { region: 'SCT:44627009', kinds: ['pw'], flow: 'rvot' },
  { region: 'SCT:34202007', kinds: ['cw'], flow: 'aortic-valve' },
  { region: 'SCT:46030003', kinds: ['cw'], flow: 'tricuspid-regurgitation' },
  { region: 'SCT:39057004', kinds: ['cw'], flow: 'pulmonary-valve' },
  { region: 'SCT:91134007', kinds: ['pw'], flow: 'mitral-inflow' },
  { region: 'SCT:122972007', kinds: ['pw'], flow: 'pulmonary-vein' },
  { region: 'SCT:399093001', kinds: ['pw'], flow: 'septal-annulus' },
  { region: 'SCT:399086000', kinds: ['pw'], flow: 'lateral-annulus' },
  { region: 'SCT:113259005', kinds: ['pw'], flow: 'tricuspid-annulus' },
];

const REGURGITATIONS: ReadonlySet<Flow> = new Set<Flow>([
  'aortic-regurgitation',
  'mitral-regurgitation',
  'tricuspid-regurgitation',
  'pulmonary-regurgitation',
]);

const LEAK = '(regurg\\w*|insuff\\w*|leak)';

/**
 * Words in View Name and Stage Name that identify each flow. They come from presets or are typed by
 * operators.
 */
const WORDS: Readonly<Record<Flow, RegExp>> = {
  'mitral-inflow':
    /\b(mitral|mv|m) ?(valve )?(in ?flow|filling|e ?a|stenosis|diastol\w*)\b|^(mv|mitral( valve)?)( (pw|cw|doppler))*$|\bms\b/,
  lvot: /\b(lvot|lv out ?flow)\b/,
  // No words identify these two flows directly. They are derived from `lvot`, the kind of Doppler
  // and whether the display was recorded under stress.
  'lvot-rest': /^$/,
  'lvot-provoked': /^$/,
  'aortic-valve':
    /\b(av|ao|aortic)( valve)?( (cw|vmax|stenosis|out ?flow|systol\w*|doppler))*$|\bas\b/,
  'aortic-regurgitation': new RegExp(`\\b(ar|ai)\\b|\\b(aortic|av)( valve)? ${LEAK}`),
  'mitral-regurgitation': new RegExp(`\\bmr\\b|\\b(mitral|mv)( valve)? ${LEAK}`),
  'tricuspid-regurgitation': new RegExp(`\\btr\\b|\\b(tricuspid|tv)( valve)? ${LEAK}`),
  rvot: /\b(rvot|rv out ?flow)\b/,
  'pulmonary-valve': /\b(pv|pulmon(ic|ary) valve)( (cw|vmax|stenosis|systol\w*|doppler))*$|\bps\b/,
  'pulmonary-regurgitation': new RegExp(`\\b(pr|pi)\\b|\\b(pulmon(ic|ary)|pv)( valve)? ${LEAK}`),
  'pulmonary-vein': /\b(pulm\w* vein\w*|pvf|pvein)\b/,
  'isovolumic-relaxation': /\b(ivrt|isovol\w* relax\w*)\b/,
  'septal-annulus': /\b(sep\w*|medial|med)\b/,
  'lateral-annulus': /\b(lat\w*)\b/,
  'tricuspid-annulus': /\b(tricuspid|tv|rv)\b/,
};

/**
 * Words that identify tissue Doppler. "Septal" and "RV" mean tissue Doppler only together with one
 * of these words. "E" alone does not: "E/A" is an inflow.
 */
const TISSUE_WORDS =
  /\b(tdi|dti|pw ?td|tissue|annul\w*|sm|em|[es] (prime|sep\w*|lat\w*|med\w*))\b|[es]['’`]/;

/**
 * "TVI" means tissue velocity imaging if a wall is named too. Otherwise it means the velocity time
 * integral ("LVOT TVI").
 */
const VELOCITY_WORD = /\btvi\b/;

type Named = Pick<Clip, 'viewName' | 'stageName' | 'stageNumber' | 'anatomicRegion'>;

const isTissue = (words: string) =>
  TISSUE_WORDS.test(words) ||
  (VELOCITY_WORD.test(words) && [...TISSUE].some((wall) => WORDS[wall].test(words)));

export const saysTissue = (clip: Named) => isTissue(viewWords(clip));

/**
 * Returns the flow identified in the header: by words for a regurgitation, otherwise by the code of
 * the region, otherwise by the words for view and stage. Null if these identify no flow, or
 * several.
 */
export function headerFlow(clip: Named, kind: SweepKind): Flow | null {
  const coded = REGIONS.find(
    ({ region, kinds }) =>
      region === clip.anatomicRegion && (kinds.includes(kind) || kind === 'doppler'),
  );
  const words = viewWords(clip);
  const tissue = isTissue(words);
  // Some patterns match only a whole name ("AV CW"). The words may include the name of a stage, so
  // the name of the view is tested on its own too.
  const texts = [words, plainWords(clip.viewName ?? '')].filter((text) => text !== '');
  const named = ALL.filter(
    (flow) => TISSUE.has(flow) === tissue && texts.some((text) => WORDS[flow].test(text)),
  );
  // Words for a regurgitation are more specific than the valve's code.
  const leak = named.find((flow) => REGURGITATIONS.has(flow));
  if (leak) return leak;
  const flow = coded?.flow ?? (named.length === 1 ? (named[0] ?? null) : null);
  if (flow !== 'lvot' || kind !== 'cw') return flow;
  return isUnderStress(clip) ? 'lvot-provoked' : 'lvot-rest';
}
