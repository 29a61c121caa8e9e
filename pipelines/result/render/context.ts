import type { Measurement } from '../envelope.ts';

/** Numbers and names as the sentences of a language print them. */
export interface ValueTexts {
  /** "12.3 mm": rounded, but on its side of each cut-off; `also`: cut-offs of this value alone. */
  value(one: Pick<Measurement, 'concept' | 'value'>, also?: readonly number[]): string;
  /** The same of a number that is no measurement of the result. */
  quantity(key: string, value: number): string;
  /** "12.3": the number of a measurement without its unit. */
  number(one: Pick<Measurement, 'concept' | 'reference' | 'value'>): string;
  /** A number with so many decimals, and more where it would be rounded onto a cut-off. */
  rounded(value: number, decimals: number, cutOffs: readonly number[]): string;
  /** Abbreviations of concepts: "BPD, HC". */
  names(keys: readonly string[]): string;
  /** The label of a concept: "Head circumference". */
  label(key: string): string;
  /** A gestational age in days: "29+3". */
  weeks(days: number): string;
  centile(centile: number): string;
  zScore(z: number): string;
  /** The name of a growth or Doppler chart. */
  chart(key: string): string;
  /** How a pregnancy was dated: "last menstrual period". */
  basis(basis: string): string;
  /** The remarks of a measurement as one text. */
  note(one: Measurement): string;
  /** Why a value outside its hard limits is not used. */
  implausible(key: string): string;
}

/** What a sentence may print beside its parameters. */
export interface SentenceContext {
  /** The measurements that the statement is about, in their order. */
  readonly about: readonly Measurement[];
  readonly fetus: string | null;
  readonly text: ValueTexts;
}
