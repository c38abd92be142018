// The rules of eslint, in addition to the checks of the compiler.
import eslint from "@eslint/js";
import tseslint from "typescript-eslint";
import tark from "./layers.mjs";

export default tseslint.config(
  { ignores: ["dist/", "out/", "node_modules/"] },
  eslint.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        project: "./tsconfig.test.json", // the only one with all files
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      curly: "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "@typescript-eslint/dot-notation": "off", // the compiler requires brackets for undeclared names
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/no-non-null-assertion": "off", // used if the line above or the pattern ensures the value
      "@typescript-eslint/unbound-method": "off", // node:path and similar modules
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off", // VS Code's Disposable is used as an interface
      "@typescript-eslint/no-misused-spread": "off", // strings are spread into their characters
      "@typescript-eslint/no-unnecessary-type-parameters": "off", // the caller chooses the type of a command's answer
      "@typescript-eslint/no-shadow": "error",
      "@typescript-eslint/prefer-readonly": "error",
    },
  },
  { files: ["src/**/*.ts"], plugins: { tark }, rules: { "tark/layers": "error" } },
  {
    files: ["test/**/*.ts"],
    rules: { "@typescript-eslint/no-floating-promises": ["error", { allowForKnownSafeCalls: ["test", "suite"] }] },
  },
  { files: ["**/*.mjs"], languageOptions: { globals: { process: "readonly", console: "readonly" } } },
);
