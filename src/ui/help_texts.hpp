#pragma once

/// The longer texts of the help.
namespace fixnvpe {

inline constexpr const char* DESCRIPTION =
    "Makes CUDA DLLs stop eating the Windows page file: patches the DLLs whose GPU code lies in a writable\n"
    "section (.nv_fatb, __nv_rel), so that each process no longer commits memory for it.\n";

inline constexpr const char* TARGET_HELP =
    "A file, a folder (searched to the bottom for *.dll, *.pyd, *.node, *.exe, *.mexw64 and *.so) or a glob (*, ?, "
    "[...], **). None: all packages of the active Python environment";

inline constexpr const char* EXIT_STATUS_HELP =
    "Exit status:\n"
    "  0    done, or nothing to do\n"
    "  1    verify found a file that needs patching\n"
    "  2    an error: usage, no match, or at least one file failed or was refused\n"
    "  130  interrupted\n";

inline constexpr const char* COMPLETION_HELP =
    "For every session, put into\n"
    "  ~/.bashrc                    eval \"$(fixnvpe completion bash)\"\n"
    "  ~/.zshrc, below compinit     source <(fixnvpe completion zsh)\n"
    "  ~/.config/fish/config.fish   fixnvpe completion fish | source\n"
    "  $PROFILE                     fixnvpe completion powershell | Out-String | Invoke-Expression\n"
    "\n"
    "The Debian package has installed those of bash, zsh and fish.\n";

inline constexpr const char* ASLR_HELP =
    "auto (default): clear DYNAMIC_BASE in the files whose GPU code (.nv_fatb, __nv_rel) is writable; keep: never "
    "touch it; clear: clear it in every file that has such code, as fixNvPe.py did";

inline constexpr const char* JUDGE_BY_ASLR_HELP =
    "Judge by this policy: auto (default), keep or clear; see fixnvpe patch --help";

inline constexpr const char* BACKUP_HELP =
    "full (default): NAME.bak, the original file; undo: NAME.fixnvpe-undo, some 10 KB that hold the changed fields, "
    "and "
    "the file is edited in place; none: neither";

inline constexpr const char* EXCLUDE_HELP =
    "Pass over what this glob names (a file's name, a folder's, or the end of a path), or what this package lists; may "
    "be "
    "repeated";

inline constexpr const char* PATCH_EXAMPLES =
    "  fixnvpe patch\n"
    "  fixnvpe patch \"C:\\Python310\\Lib\\site-packages\\torch\\lib\\*.dll\"\n"
    "  fixnvpe patch --dry-run torch/lib\n"
    "  fixnvpe patch --backup undo --aslr keep torch/lib\n";

inline constexpr const char* VERIFY_EXAMPLES =
    "  fixnvpe verify\n"
    "  fixnvpe verify --json torch/lib\n"
    "  fixnvpe verify --require-backup torch/lib\n";

inline constexpr const char* RESTORE_EXAMPLES =
    "  fixnvpe restore\n"
    "  fixnvpe restore --keep-backup torch/lib/torch_cuda.dll\n";

inline constexpr const char* SCAN_EXAMPLES =
    "  fixnvpe scan\n"
    "  fixnvpe scan --workers 16 torch/lib\n";

inline constexpr const char* CLEAN_EXAMPLES =
    "  fixnvpe clean --dry-run\n"
    "  fixnvpe clean --backups torch/lib\n";

inline constexpr const char* MEASURE_HELP =
    "Examples:\n"
    "  fixnvpe measure\n"
    "  fixnvpe measure --watch 1234\n"
    "  fixnvpe measure -- python train.py     runs it, and measures it and what it starts at their peak\n"
    "\n"
    "Exit status: that of the command behind \"--\", else 0; 2 an error.\n";

inline constexpr const char* DATA_HELP =
    "keep (default): whole sections only; split: GPU code that lies among the variables of a section (cuFFT, cuRAND) "
    "gets a read-only section of its own. Shown: machine code takes its addresses only, CUDA's interface takes it as "
    "const, a split DLL loads and answers in Wine, restore gives back every byte. Not shown: nobody has run one on a "
    "GPU yet";

}  // namespace fixnvpe
