import type { OcrLanguage } from '../../../contract/files/ocrLanguages.js';

/** Data that OCR needs: a language, or `osd`, by which the script of a page is detected. */
export type DataCode = OcrLanguage | 'osd';

/** An npm package with data for OCR. */
export interface DataPackage {
  /** Hash of the package as npm states it. */
  readonly integrity: string;
  /** Size of the download in megabytes. */
  readonly megabytes: number;
}

export const PACKAGE_VERSION = '1.0.0';

/** Returns the name of the npm package of a code. */
export const packageOf = (code: string): string => `@tesseract.js-data/${code}`;

/**
 * The packages by code. English is a dependency of this project. Russian has no such package in the registry that the
 * hashes were taken from: its data comes from the system's package, or from a file that an operator puts into
 * `DATA_DIR/ocr-languages`.
 */
export const PACKAGES: Readonly<Partial<Record<DataCode, DataPackage>>> = {
  osd: {
    integrity: 'sha512-9kRvbrdywiWFuxrii1dLUo6vLpgaNBzi+9OtvXWuDbRM+QJ9TlZjzCLJFO8D2UsKwod0gpLc1mGaC6i1w4g+vg==',
    megabytes: 9,
  },
  deu: {
    integrity: 'sha512-3ter1p2gFAiCd5CMC+PodZ9YY2UDomkKj+ytlKeeZqOUmhLx1SDnYPf5zog0g5MBbxYveW+8omI3PUflqHfZ4Q==',
    megabytes: 8,
  },
  fra: {
    integrity: 'sha512-pp58gMaoyidoBBLd5y5rnf0WW0Y1994QrGqZrYatITqIU/AReUJMykD+YY3JDgvnmgz7uAx1UmhjjuyEmV8JEA==',
    megabytes: 7,
  },
  spa: {
    integrity: 'sha512-9Ln+QKq/TNu4Hy4aOp5b4nXo9U0C6IqJMzNDpAJZe/fNtz6jXG9G/hQgR/Irxj+RGf0M7Xy1MNx1yl4wQUIfeg==',
    megabytes: 10,
  },
  ita: {
    integrity: 'sha512-Sx19NVYve5VAxEBDL6CWTX+evlvzV+iAS5ejJywcHVsmir/C9Tzw2fExoh97QFc06t48tYZA8VrMobsBzMAEhA==',
    megabytes: 9,
  },
  por: {
    integrity: 'sha512-sQ7GqYUgKaMmV0vNujYoXLlXUp2e5RGGkJxQ3L59kUOaupIugLJeb1dqhrfgyb71XQw7ltdSuXdQIoaoS/rpsQ==',
    megabytes: 8,
  },
  nld: {
    integrity: 'sha512-Fq9TDxewYAw3YBLqLYEu3rziNUHq0F1NnnM49vI0E5o6S2oKcirhTumGvv8ws088+li1llyKXT9nfrHuxxetHQ==',
    megabytes: 13,
  },
  pol: {
    integrity: 'sha512-e9naSi/5kIXIMsymriFMUXJ2XWxRY/09qU9pkmEN28nAeMyF70EYkn4G3iHoB2oF/HNhZpy8lCIe1/I2L/BqKA==',
    megabytes: 11,
  },
  ukr: {
    integrity: 'sha512-W/i5g9xbyBHJxklEb0mU2iLENBzU9CgXk1LVg82aQ95IaRwNFjY1z5y0vMcydEHQLx/TeawGrHiqlWoyXWCDzA==',
    megabytes: 7,
  },
  chi_sim: {
    integrity: 'sha512-iuErURkPbECDUazgsLn/r3c+tU2y5o5S/w14d0A/YiagfsjYyZKgTo75RUpsGJ311qtu0dIX4hqnXAAjmqf2CA==',
    megabytes: 22,
  },
  chi_tra: {
    integrity: 'sha512-uz0gqF7ncrJS4UTHGCkPntZXpoyo+mIg0Zs8QhF0TH3uzj2HkJpYmi8u1Pdwt2NW65UWJ51hzILWWy838da5dw==',
    megabytes: 29,
  },
  jpn: {
    integrity: 'sha512-nUq2xHUjiWE6FRqkvLIIbByLZ39B8qNaBSOnVP4XIKGPKtZ1e0hiRnK7WhPfl8A+Fe7aNE1u/QoXXUym3TbSCA==',
    megabytes: 18,
  },
  kor: {
    integrity: 'sha512-tepYhsYiRJ8E44R27MHxVteEDDLfYQxuvM6u4JlEHcCYqwpefvI5TGzoMgB67kunOvtyEJYtT5zfJ/6R6FVU9w==',
    megabytes: 9,
  },
  ara: {
    integrity: 'sha512-bB60Av6dsv9LRUrlaM6SgnAwjUpdbanw9Jf3mbhDCZAhX7Cp8u7YjI8EWfCvMhH3R2QJT/2EA8cijqPANOhwaA==',
    megabytes: 3,
  },
  hin: {
    integrity: 'sha512-MB6WY6g4SAtrs+Xuyz5JDDsLFCykCwIESV7M9KkyxF71bxBqhLa8e7GJi5yGa/Wl6V4nuC7LWX/EMdSyTINTvg==',
    megabytes: 3,
  },
  swe: {
    integrity: 'sha512-9BRWhTs8THTaBtFNvaTSZbL8gb14CH86TsdNjpDVBgm4kOS5RW8V6xfM91SEho4rlxyzAJPA909GRD1xsJbyJg==',
    megabytes: 9,
  },
  ces: {
    integrity: 'sha512-mXnVy8WoG/ImbrpN5oggaBBMSrHQH+hKbgkbPQeVY6MChIDDZT1H+e2I4eiAvl+fypfIbiqpIcodGex03PXvfw==',
    megabytes: 9,
  },
  tur: {
    integrity: 'sha512-510AUJda8BsgrTchfIIH1uV1wfYp28+PLy74sxSQiHM0sLv9kjbNyooxUCo/R4TOjLQY0fXQ2QWwozWlSlXrkw==',
    megabytes: 10,
  },
  vie: {
    integrity: 'sha512-hFxBtxSiCw6+64uxf0psrlLvcYA5kQimYhTSx1RwjbD5jSxe1bWg3EmipAozkzELQIFAMkJC5vu+ONGRem7YLA==',
    megabytes: 5,
  },
  heb: {
    integrity: 'sha512-t70MeqlBqOsf+pINWgG32gaVsXG2LUiOFMMzeJLl+bDEjRK9nXUqF/xzl37xP2IdwZcOsd6BnQRbZDN/8AAWlA==',
    megabytes: 3,
  },
  tha: {
    integrity: 'sha512-0OzEL5P9b0PLukjrUbQUJFWC41V6Ti/Cxgm7pFJ6btk3IPS3EZc2PPjji7eFzbc/Zf7LDKxkzvlW1nd0NmrEug==',
    megabytes: 2,
  },
  ell: {
    integrity: 'sha512-cCdWHcxHupC9YltWAoscqnw1QAIo4ENgaXNNVXfN+FBvSncnx3lgnNcyRdCvGSi31buwr7vPY156WHu2Yubg4A==',
    megabytes: 5,
  },
};
