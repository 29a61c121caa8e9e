import type { DopplerSummary } from './doppler-categories.ts';
import type { DopplerJudgement } from './doppler-judgement.ts';
import type { TracedReading } from './doppler-measurements.ts';

/** The spectra that are judged together: of one fetus, or of nobody in particular. */
export interface DopplerGroup {
  /** Null: the only fetus, with its mother; of several, the mother and what names no fetus. */
  fetus: string | null;
  readings: TracedReading[];
}

/**
 * Two fetuses never share a value (obstetric reference 0.5): of several each is judged by the spectra
 * that name it. `several`: other sources tell of more than one. A fetal vessel that names no fetus is
 * then one that is not named at all.
 */
export function groupsByFetus(
  readings: readonly TracedReading[],
  several: boolean,
): DopplerGroup[] {
  const fetal = readings.filter(({ vessel }) => vessel !== 'uterine-artery');
  const names = [...new Set(fetal.flatMap(({ fetus }) => fetus ?? []))].sort();
  if (!several && names.length < 2) return [{ fetus: null, readings: [...readings] }];
  const others = readings
    .filter(({ vessel, fetus }) => vessel === 'uterine-artery' || fetus === null)
    .map((one) => (one.vessel === 'uterine-artery' ? one : { ...one, vessel: null }));
  return [
    ...names.map((fetus) => ({ fetus, readings: fetal.filter((one) => one.fetus === fetus) })),
    ...(others.length > 0 ? [{ fetus: null, readings: others }] : []),
  ];
}

/** A judgement whose every id and sentence names its fetus. */
export function ofFetus(judged: DopplerJudgement, fetus: string): DopplerJudgement {
  const idOf = (id: string) => `${id}-fetus-${fetus.toLowerCase()}`;
  const say = (text: string) => `Fetus ${fetus}: ${text}`;
  return {
    ...judged,
    measurements: judged.measurements.map((one) => ({
      ...one,
      id: idOf(one.id),
      fetus,
      inputs: one.inputs.map(idOf),
    })),
    findings: judged.findings.map((one) => ({
      ...one,
      id: idOf(one.id),
      text: say(one.text),
      evidence: one.evidence.map(idOf),
    })),
    classifications: judged.classifications.map((one) => ({
      ...one,
      id: idOf(one.id),
      name: `${one.name}, fetus ${fetus}`,
    })),
    guidance: judged.guidance.map((one) => ({ ...one, id: idOf(one.id), text: say(one.text) })),
    sentences: judged.sentences.map(say),
    gaps: judged.gaps.map(say),
  };
}

/** Of several fetuses the gravest leads; one that was not assessed keeps the rest from being normal. */
const GRAVEST_FIRST: readonly DopplerSummary[] = [
  'redf',
  'aedf',
  'dv-abnormal',
  'abnormal-ua',
  'redistribution',
  'anaemia-flag',
  'not-assessed',
  'normal',
];

const SINGLETON_CHARTS = 'Several fetuses: singleton charts were used, and nothing was compared.';

/** The judgements of several fetuses and of their mother as one; `fetal` are those of a fetus. */
export function together(
  fetal: readonly DopplerJudgement[],
  maternal: readonly DopplerJudgement[],
): DopplerJudgement {
  const all = [...fetal, ...maternal];
  const categories = new Set(fetal.map(({ category }) => category));
  return {
    measurements: all.flatMap(({ measurements }) => measurements),
    category: GRAVEST_FIRST.find((one) => categories.has(one)) ?? 'not-assessed',
    classifications: [
      ...fetal.flatMap(({ classifications }) => classifications),
      ...maternal.flatMap(({ classifications }) =>
        classifications.filter(({ id }) => id !== 'fetal-doppler'),
      ),
    ],
    findings: all.flatMap(({ findings }) => findings),
    guidance: all.flatMap(({ guidance }) => guidance),
    sentences: all.flatMap(({ sentences }) => sentences),
    gaps: [...new Set([SINGLETON_CHARTS, ...all.flatMap(({ gaps }) => gaps)])],
    code: all.find(({ code }) => code !== null)?.code ?? 'several_fetuses',
  };
}
