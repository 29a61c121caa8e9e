import { Option } from 'commander';
import { DATING_BASIS } from '../../../pipelines/result/render/obstetric/shared.ts';
import type { ProgramCommand } from './command.ts';
import { UsageError } from './exit-status.ts';
import { positiveNumber, wholeNumber } from './numbers.ts';

/** The options and clinical context of an examination, shared by `interpret` and `submit`. */
export interface InputOptions {
  gaDays?: number;
  basis?: string;
  mmPerPx?: number;
  /** Scales of individual files, each as NAME=MM. */
  perFileScale?: readonly string[];
  report?: boolean;
  previews?: boolean;
  age?: number;
  sex?: string;
  heightCm?: number;
  weightKg?: number;
  indication?: string;
  /** Files and folders of earlier examinations. */
  priors?: readonly string[];
}

export function addInputOptions(command: ProgramCommand): ProgramCommand {
  return command
    .option(
      '--ga-days <number>',
      'gestational age on the day of the scan (us/obstetric)',
      wholeNumber,
    )
    .addOption(
      new Option('--basis <basis>', 'method by which the pregnancy was dated').choices(
        DATING_BASIS,
      ),
    )
    .option('--mm-per-px <number>', 'pixel spacing for images without calibration', positiveNumber)
    .option('--per-file-scale <name=number...>', 'the same for individual files, by file name')
    .option(
      '--age <years>',
      'age of the patient in years; without it us/echo assumes an adult',
      wholeNumber,
    )
    .addOption(
      new Option('--sex <sex>', 'for reference ranges').choices([
        'female',
        'male',
        'other',
        'unknown',
      ]),
    )
    .option('--height-cm <number>', 'for the body surface area', positiveNumber)
    .option('--weight-kg <number>', 'for the body surface area', positiveNumber)
    .option('--indication <text>', 'why the examination was requested; no names, dates or numbers')
    .option('--priors <paths...>', 'files or folders of earlier examinations')
    .option('--report', 'include the draft report')
    .option('--no-previews', 'omit preview images (us/obstetric)');
}

/**
 * Returns the scale of each file in the order of `names`, or one scale for all files; undefined if
 * none was given.
 */
function scaleOf(
  { mmPerPx, perFileScale = [] }: InputOptions,
  names: readonly string[],
): number | (number | null)[] | undefined {
  if (perFileScale.length === 0) return mmPerPx;
  const single = new Map(
    perFileScale.map((text) => {
      const at = text.lastIndexOf('=');
      const name = text.slice(0, Math.max(at, 0));
      if (!names.includes(name)) throw new UsageError(`--per-file-scale ${text}: no such file`);
      return [name, positiveNumber(text.slice(at + 1))];
    }),
  );
  return names.map((name) => single.get(name) ?? mmPerPx ?? null);
}

/**
 * Converts the given options to the members of a request's `input`, for files with these names.
 * Absent options are omitted.
 */
export function inputOf(
  given: InputOptions,
  names: readonly string[],
): {
  options: Record<string, unknown>;
  clinical_context: Record<string, unknown>;
} {
  const dating = given.gaDays !== undefined && {
    dating: { ga_days: given.gaDays, ...(given.basis !== undefined && { basis: given.basis }) },
  };
  const scale = scaleOf(given, names);
  return {
    options: {
      ...dating,
      ...(scale !== undefined && { mm_per_px: scale }),
      ...(given.report !== undefined && { report: given.report }),
      // The option is true unless `--no-previews` is given. Only some endpoints accept it, so only
      // false is passed on.
      ...(given.previews === false && { previews: false }),
    },
    clinical_context: {
      ...(given.age !== undefined && { age_years: given.age }),
      ...(given.sex !== undefined && { sex: given.sex }),
      ...(given.heightCm !== undefined && { height_cm: given.heightCm }),
      ...(given.weightKg !== undefined && { weight_kg: given.weightKg }),
      ...(given.indication !== undefined && { indication: given.indication }),
    },
  };
}
