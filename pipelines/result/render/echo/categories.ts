import { type Param, type ScaleTable, type SentenceTable, statementsOf } from '../../statement.ts';
import { CARDIOMYOPATHY_SCALES } from './cardiomyopathy.ts';
import { DIASTOLIC_SCALES } from './diastolic.ts';
import { FOCUSED_SCALES } from './focused.ts';
import { LV_SIZE_SCALES } from './lv-size.ts';
import { LVEF_SCALES } from './lvef.ts';
import { EFFUSION_SCALES } from './pericardial-effusion.ts';
import { RV_FUNCTION_SCALES } from './rv-function.ts';
import {
  type About,
  abnormalityOf,
  abnormalityText,
  ECHO_SCALES,
  gradesText,
  withIntervals,
} from './shared.ts';
import { VALVES_SCALES } from './valves.ts';

/** All scales. Each renders its categories in their published wording. */
const SCALES: ScaleTable = {
  ...ECHO_SCALES,
  ...LV_SIZE_SCALES,
  ...LVEF_SCALES,
  ...DIASTOLIC_SCALES,
  ...VALVES_SCALES,
  ...RV_FUNCTION_SCALES,
  ...EFFUSION_SCALES,
  ...CARDIOMYOPATHY_SCALES,
  ...FOCUSED_SCALES,
};

/** Renders a category. Without a scale, or with the words of an earlier version, it is its own text. */
export function categoryText(scale: string | undefined, category: Param): string {
  const render = SCALES[scale ?? ''] as ((category: Param) => string) | undefined;
  return render ? render(category) : String(category);
}

/**
 * A classification whose interval includes a cut-off, with the categories on both sides; null is
 * no category. Results of earlier versions contain words in place of categories, without a scale.
 */
type OpenClassification = {
  id: string;
  name: string;
  scale?: string;
  categories: readonly Param[];
};

/** Returns the band that these words state; undefined if they are the words of another scale. */
function bandInWords(words: string) {
  const band = abnormalityOf(words);
  return band && abnormalityText(band) === words ? band : undefined;
}

export const CATEGORY_SENTENCES = {
  'echo.between': ({ open }: { open: readonly OpenClassification[] }, { about }: About) => {
    const sides = open.map(({ name, scale, categories }) => {
      const words = categories.map((one) => (one === null ? 'no grade' : categoryText(scale, one)));
      return `${name}: ${gradesText(words, (one) => one, bandInWords)}`;
    });
    return `${sides.join('; ')}; a cut-off is within the 95 % interval of ${withIntervals(about)}.`;
  },
} as const satisfies SentenceTable;

export const sayOfCategories = statementsOf<typeof CATEGORY_SENTENCES>();
