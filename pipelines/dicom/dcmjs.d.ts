/** The part of dcmjs that we call; the package brings no types. */
declare module 'dcmjs' {
  /** Data set by keyword. Sequences are arrays of data sets; `_vrMap` settles an ambiguous VR. */
  export interface NaturalDataset {
    [keyword: string]: unknown;
  }

  /** Data set by tag (`00100010`), as read or as written. */
  export interface TagDataset {
    [tag: string]: { vr: string; Value?: unknown[] };
  }

  export interface DicomFile {
    meta: TagDataset;
    dict: TagDataset;
    write(options?: { fragmentMultiframe?: boolean }): ArrayBuffer;
  }

  export const data: {
    DicomDict: new (meta: TagDataset) => DicomFile;
    DicomMessage: {
      /** @throws Error when the bytes are not a DICOM Part 10 file. */
      readFile(
        bytes: ArrayBuffer,
        options?: { ignoreErrors?: boolean; untilTag?: string; includeUntilTagValue?: boolean },
      ): DicomFile;
    };
    DicomMetaDictionary: {
      /** `(0010,0010)` → its entry of PS3.6. */
      dictionary: Readonly<Record<string, { name: string; vr: string }>>;
      /** Keyword → the same entry. */
      nameMap: Readonly<Record<string, { tag: string }>>;
      denaturalizeDataset(dataset: NaturalDataset): TagDataset;
      naturalizeDataset(dataset: TagDataset): NaturalDataset;
    };
  };

  export const log: { setLevel(level: string | number): void };

  const dcmjs: { data: typeof data; log: typeof log };
  export default dcmjs;
}
