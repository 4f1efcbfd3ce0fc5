# The libraries that ztp is built with. All that are missing are told at once, with what to do: pip shows no more than
# this message.
set(ZTP_MISSING "")

macro(need_packages)
  foreach(name ${ARGV})
    find_package(${name} QUIET)
    if(NOT ${name}_FOUND)
      list(APPEND ZTP_MISSING ${name})
    endif()
  endforeach()
endmacro()

# PREFIX=MODULE: a module of pkg-config, as the target PkgConfig::PREFIX.
macro(need_modules)
  foreach(pair ${ARGV})
    string(REPLACE "=" ";" pair ${pair})
    list(GET pair 0 prefix)
    list(GET pair 1 module)
    if(PKG_CONFIG_FOUND)
      pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
    endif()
    if(NOT ${prefix}_FOUND)
      list(APPEND ZTP_MISSING ${module})
    endif()
  endforeach()
endmacro()

# A file in one of some folders, as the variable; what is missing is the package.
macro(need_file variable name package)
  find_file(${variable} ${name} PATHS ${ARGN} NO_DEFAULT_PATH)
  if(NOT ${variable})
    list(APPEND ZTP_MISSING ${package})
  endif()
endmacro()

macro(tell_what_is_missing)
  if(ZTP_MISSING)
    list(JOIN ZTP_MISSING ", " missing)
    message(FATAL_ERROR "Not found: ${missing}. On Debian and its relatives, "
            "scripts/setup.sh build installs what ztp is built with (for Python: scripts/setup.sh python).")
  endif()
endmacro()
