/** Types for the part of dcmjs that the gateway uses. The package itself contains no types. */
declare module 'dcmjs' {
  /**
   * Data set by keyword. A sequence is an array of data sets. `_vrMap` contains the VR of each
   * element that can have several VRs.
   */
  export interface NaturalDataset {
    [keyword: string]: unknown;
  }

  /** Data set by tag (`00100010`), as dcmjs reads and writes it. */
  export interface TagDataset {
    [tag: string]: TagElement;
  }

  export interface TagElement {
    vr: string;
    Value?: unknown[];
    /** Value before dcmjs interpreted it. */
    _rawValue?: unknown;
  }

  /** Bytes that dcmjs reads, in the byte order of the transfer syntax. */
  export interface ReadStream {
    offset: number;
    readUint16(): number;
    readUint32(): number;
    readVR(): string;
    increment(bytes: number): void;
    /** Returns the next bytes as a separate stream, and moves this one after them. */
    more(bytes: number): ReadStream;
  }

  export interface DicomFile {
    meta: TagDataset;
    dict: TagDataset;
    write(options?: {
      fragmentMultiframe?: boolean;
      /** Writes a value longer than its VR permits, instead of throwing an error. */
      allowInvalidVRLength?: boolean;
    }): ArrayBuffer;
  }

  export const data: {
    DicomDict: new (meta: TagDataset) => DicomFile;
    DicomMessage: {
      /** Reads the elements of a stream. */
      _read(stream: ReadStream, transferSyntax: string): TagDataset;
      /**
       * Reads a file.
       * @throws Error if the bytes are not a DICOM Part 10 file.
       */
      readFile(
        bytes: ArrayBuffer,
        options?: { ignoreErrors?: boolean; untilTag?: string; includeUntilTagValue?: boolean },
      ): DicomFile;
    };
    ValueRepresentation: {
      /** Returns the shared reader and writer of a VR. */
      createByTypeString(vr: string): {
        /** Value of an empty element of fixed length. */
        defaultValue: unknown;
        readBytes(stream: ReadStream, length: number, transferSyntax: string): unknown;
      };
    };
    DicomMetaDictionary: {
      /** PS3.6 entry for each tag. Tags are written as `(0010,0010)`. */
      dictionary: Readonly<Record<string, { name: string; vr: string }>>;
      /** The same entries by keyword. */
      nameMap: Readonly<Record<string, { tag: string }>>;
      denaturalizeDataset(dataset: NaturalDataset): TagDataset;
      naturalizeDataset(dataset: TagDataset): NaturalDataset;
    };
  };

  export const log: { setLevel(level: string | number): void };

  const dcmjs: { data: typeof data; log: typeof log };
  export default dcmjs;
}
